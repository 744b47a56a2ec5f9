// Package recovery keeps what was delivered to whom.
package recovery
