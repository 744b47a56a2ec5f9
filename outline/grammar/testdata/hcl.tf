# The network of the service.

terraform {
  required_version = ">= 1.5"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.0"
    }
  }

  backend "s3" {
    bucket = "state"
    key    = "network.tfstate"
  }
}

provider "aws" {
  region = var.region
  alias  = "main"
}

// Where it runs.
variable "region" {
  type        = string
  description = "Where it runs."
  default     = "eu-west-1"

  validation {
    condition     = length(var.region) > 0
    error_message = "no region"
  }
}

variable "tags" {
  type    = map(string)
  default = {}
}

variable "instances" {
  type = list(object({
    name = string
    size = number
  }))
}

locals {
  prefix = "app-${var.region}"
  zones  = ["a", "b"]
  merged = merge(var.tags, {
    Name  = local.prefix
    Owner = "team"
  })
}

data "aws_ami" "ubuntu" {
  most_recent = true

  filter {
    name   = "name"
    values = ["ubuntu/images/*"]
  }

  filter {
    name   = "virtualization-type"
    values = ["hvm"]
  }
}

/*
 * The machines.
 */
resource "aws_instance" "web" {
  for_each      = { for i in var.instances : i.name => i }
  ami           = data.aws_ami.ubuntu.id
  instance_type = each.value.size > 1 ? "large" : "small"
  count         = 2

  user_data = <<-EOT
    #!/bin/sh
    resource "not" "real" {
    }
    echo hello
  EOT

  tags = merge(local.merged, {
    Index = each.key
  })

  lifecycle {
    create_before_destroy = true
    ignore_changes        = [tags]
  }

  dynamic "ebs_block_device" {
    for_each = local.zones
    content {
      device_name = ebs_block_device.value
    }
  }

  provisioner "local-exec" {
    command = "echo ${self.id}"
  }
}

resource "aws_security_group" "web" {
  name = "web"

  ingress {
    from_port   = 80
    to_port     = 80
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

module "vpc" {
  source = "./modules/vpc"

  cidr = "10.0.0.0/16"
  providers = {
    aws = aws.main
  }
}

output "address" {
  description = "The public address."
  value       = aws_instance.web["a"].public_ip
  sensitive   = true
}

output "names" {
  value = [for i in var.instances : upper(i.name) if i.size > 0]
}

moved {
  from = aws_instance.old
  to   = aws_instance.web
}

check "health" {
  data "http" "example" {
    url = "https://example.com"
  }

  assert {
    condition     = data.http.example.status_code == 200
    error_message = "unhealthy"
  }
}

single_line = "value"
nested = {
  key = {
    deep = true
  }
}
