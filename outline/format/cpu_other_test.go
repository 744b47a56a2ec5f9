//go:build !linux

package format

import "time"

var processStart = time.Now()

func cpuTime() time.Duration { return time.Since(processStart) }
