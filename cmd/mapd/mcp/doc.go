// Package mcp is the bridge from an MCP client on stdin and stdout to the
// shared daemon: eight tools, each one method of the daemon.
//
// Guarantees: initialize and tools/list are answered without the daemon, which
// is dialled or started beside them, and the first call waits for it; the text
// of a result is what the daemon made for a model, unchanged, with what went
// stale after it; the result object of the wire stands beside it as structured
// content; the end of stdin ends the bridge once the calls under way are
// answered, or DrainTime later; one MCP session is one session of the daemon,
// found again by name when a connection is lost.
//
// The package knows how the tools are called and what a model reads. It neither
// opens files nor keeps any state about them.
package mcp
