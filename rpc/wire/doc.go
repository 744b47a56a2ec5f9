// Package wire holds what crosses the socket: the parameters and results of
// every method, and the errors. It has no behaviour but encoding, so that the
// daemon and its clients share one definition of each name.
package wire
