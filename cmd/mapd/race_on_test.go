//go:build race

package main

// raceEnabled says that the race detector is on, which multiplies the memory
// and the time of everything.
const raceEnabled = true
