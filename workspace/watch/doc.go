// Package watch turns the events of the file system into a set of dirty paths.
//
// Events are hints. A Stream is one generation of watches; it says when it
// lost events, and then, and whenever a directory is renamed or removed, its
// user starts a new Stream and scans again: after a rename the old one reports
// wrong paths, and adding the same directory to it again does nothing.
//
// A Collector drains its Stream at once, whatever its user is doing, so that
// the kernel's queue stays short. It is the only place that imports fsnotify.
package watch
