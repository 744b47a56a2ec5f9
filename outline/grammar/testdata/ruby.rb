# frozen_string_literal: true

require "json"
require_relative "support/helpers"
require 'set'
autoload :Parser, "store/parser"

# The public face of the store.
#
# It keeps items in memory.
module Store
  VERSION = "1.4.2"
  DEFAULTS = {
    size: 10,
    mode: :fast,
  }.freeze
  Point = Struct.new(:x, :y)

  class Error < StandardError; end

  # Raised for a missing key.
  class NotFound < Error
    attr_reader :key

    def initialize(key)
      @key = key
      super("no #{key}")
    end
  end

  module Countable
    def count
      items.size
    end

    def self.included(base)
      base.extend(ClassMethods)
    end

    module ClassMethods
      def counter = 0
    end
  end

  class << self
    attr_accessor :logger

    def configure
      yield self
    end
  end

  # One bucket of items.
  class Bucket
    include Countable
    extend Forwardable

    LIMIT = 100
    @@instances = 0

    attr_reader :name, :items
    attr_writer :owner
    attr_accessor :limit
    alias_method :length, :count
    alias size count

    # Makes a bucket.
    # @param name [String]
    def initialize(name, limit: LIMIT, **options)
      @name = name
      @limit = limit
      @items = []
      @@instances += 1
    end

    def self.build(*args, &block)
      new(*args).tap(&block)
    end

    def [](key)
      items.find { |item| item.key == key } or raise NotFound, key
    end

    def <<(item)
      items << item
      self
    end

    def ==(other)
      other.is_a?(Bucket) && name == other.name
    end

    def empty?
      items.empty?
    end

    def clear!
      items.clear
    end

    def owner=(value)
      @owner = value
    end

    def each
      return enum_for(:each) unless block_given?

      items.each do |item|
        yield item
      end
    end

    define_method(:first) do
      items.first
    end

    sorter = ->(a, b) { a <=> b }

    private

    def check(item)
      nested = lambda do |x|
        x.nil?
      end
      raise ArgumentError if nested.call(item)
    end

    private def secret
      42
    end

    protected

    def shared; end

    class Entry
      def to_s
        "entry"
      end
    end

    private_constant :Entry
  end

  class Remote::Bucket < Bucket
    def fetch
      def helper
        1
      end
      helper
    end
  end

  Cache = Class.new(Bucket) do
    def warm?
      true
    end
  end

  if RUBY_VERSION >= "3.0"
    def self.modern?
      true
    end
  else
    def self.modern?
      false
    end
  end
end

def top_level(argument, default = 1, *rest, key:, **options)
  argument
rescue ArgumentError => e
  warn e
ensure
  puts "done"
end

class String
  def shout
    upcase + "!"
  end
end

begin
  def risky; end
end

TABLE = %w[a b c].freeze

puts top_level(1, key: 2)
