package conn

import "time"

// Limits bounds what one connection may cost. A zero field means the default.
type Limits struct {
	// Frame is the largest message body in bytes, in either direction. A larger
	// one from the peer ends the connection; a larger reply becomes an error.
	Frame int
	// Header is the largest header block in bytes, blank line included.
	Header int
	// Batch is the largest number of elements of a batch.
	Batch int
	// InFlight is the number of calls that run at once. A further single call is
	// refused with server_busy; the elements of a batch wait for their turn.
	InFlight int
	// InFlightBytes bounds the bytes of the frames whose calls are running.
	InFlightBytes int64
	// Outgoing bounds the bytes queued for the peer, and the bytes of batch
	// elements that wait for their siblings.
	Outgoing int64
	// Stall is how long the outgoing queue may make no progress.
	Stall time.Duration
	// Depth is the deepest nesting of arrays and objects in a message.
	Depth int
	// Name is the longest method name and the longest string id, in bytes.
	Name int
	// Linger is how long input is discarded after a fatal error, so that a peer
	// in the middle of a write still gets to read the error.
	Linger time.Duration
}

// DefaultLimits returns the limits of the protocol.
func DefaultLimits() Limits {
	return Limits{
		Frame:         64 << 20,
		Header:        8 << 10,
		Batch:         1000,
		InFlight:      64,
		InFlightBytes: 64 << 20,
		Outgoing:      64 << 20,
		Stall:         30 * time.Second,
		Depth:         512,
		Name:          1024,
		Linger:        time.Second,
	}
}

// withDefaults fills the zero fields.
func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	fill(&l.Frame, d.Frame)
	fill(&l.Header, d.Header)
	fill(&l.Batch, d.Batch)
	fill(&l.InFlight, d.InFlight)
	fill(&l.InFlightBytes, d.InFlightBytes)
	fill(&l.Outgoing, d.Outgoing)
	fill(&l.Stall, d.Stall)
	fill(&l.Depth, d.Depth)
	fill(&l.Name, d.Name)
	fill(&l.Linger, d.Linger)
	return l
}

func fill[T int | int64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}
