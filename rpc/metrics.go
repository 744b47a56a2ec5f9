package rpc

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"mapd/rpc/conn"
	"mapd/rpc/wire"
)

// Buckets of a latency histogram: the first ends at latencyFirst, each further
// one at twice that of the one before, the last has no end.
const (
	latencyFirst   = 16 * time.Microsecond
	latencyBuckets = 24
)

// histogram counts durations in fixed buckets. It is safe for concurrent use;
// what it tells while durations are added may be a moment old.
type histogram struct {
	buckets [latencyBuckets]atomic.Int64
	failed  atomic.Int64
	longest atomic.Int64 // nanoseconds
}

func (h *histogram) add(d time.Duration, failed bool) {
	i := 0
	for i < latencyBuckets-1 && d > latencyFirst<<i {
		i++
	}
	h.buckets[i].Add(1)
	if failed {
		h.failed.Add(1)
	}
	for n := int64(d); ; {
		longest := h.longest.Load()
		if n <= longest || h.longest.CompareAndSwap(longest, n) {
			return
		}
	}
}

// status returns what status shows of h.
func (h *histogram) status(method string) wire.MethodLatency {
	s := wire.MethodLatency{Method: method, Failed: h.failed.Load(), MaxMicros: micros(h.longest.Load())}
	counts := make([]int64, latencyBuckets)
	for i := range counts {
		counts[i] = h.buckets[i].Load()
		s.Count += counts[i]
		if counts[i] == 0 {
			continue
		}
		b := wire.LatencyBucket{Count: counts[i]}
		if i < latencyBuckets-1 {
			b.UpToMicros = (latencyFirst << i).Microseconds()
		}
		s.Buckets = append(s.Buckets, b)
	}
	s.P50Micros, s.P99Micros = quantile(counts, 50, s.MaxMicros), quantile(counts, 99, s.MaxMicros)
	return s
}

// quantile returns the end of the bucket that holds the given percentile, or
// the longest duration where that is less.
func quantile(counts []int64, percent, longest int64) int64 {
	var total, seen int64
	for _, n := range counts {
		total += n
	}
	for i, n := range counts[:latencyBuckets-1] {
		if seen += n; seen*100 >= total*percent {
			return min((latencyFirst << i).Microseconds(), longest)
		}
	}
	return longest
}

// micros rounds up, so that what took any time shows.
func micros(nanoseconds int64) int64 { return (nanoseconds + 999) / 1000 }

// metrics are the counters of a Server. Their number is fixed: what a peer
// names is never a key.
type metrics struct {
	latency map[string]*histogram // by the names of the method table; not changed after newMetrics

	mu      sync.Mutex // guards what follows
	errors  map[wire.Code]int64
	ended   conn.Stats // sums over the connections that have ended
	served  int64      // connections
	refused int64      // connections
}

func newMetrics() *metrics {
	m := &metrics{latency: map[string]*histogram{}, errors: map[wire.Code]int64{}}
	for name := range methods {
		m.latency[name] = &histogram{}
	}
	return m
}

func (m *metrics) failed(code wire.Code) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.errors[code]++
}

// connected counts a connection that is served, or refused.
func (m *metrics) connected(served bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if served {
		m.served++
	} else {
		m.refused++
	}
}

// disconnected keeps what a connection has counted.
func (m *metrics) disconnected(s conn.Stats) {
	m.mu.Lock()
	defer m.mu.Unlock()
	addStats(&m.ended, s)
}

// addStats adds the counters of s, not its levels.
func addStats(to *conn.Stats, s conn.Stats) {
	to.Received += s.Received
	to.Sent += s.Sent
	to.Malformed += s.Malformed
	to.Busy += s.Busy
	to.Panics += s.Panics
}

// methodStatus returns the methods that were called, by name.
func (m *metrics) methodStatus() []wire.MethodLatency {
	out := []wire.MethodLatency{}
	for _, name := range slices.Sorted(maps.Keys(m.latency)) {
		if s := m.latency[name].status(name); s.Count > 0 {
			out = append(out, s)
		}
	}
	return out
}

// errorStatus returns the errors by data.code. Those that the connections
// answer themselves are taken from total, their counters.
func (m *metrics) errorStatus(total conn.Stats) map[string]int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[string]int64{}
	for code, n := range m.errors {
		out[string(code)] = n
	}
	if total.Busy > 0 {
		out[string(wire.ServerBusy)] += total.Busy
	}
	return out
}

// failuresLogged is how many failed requests of one session are logged one by
// one; of those past it, only each failuresLogged-th is. A client in a loop must
// not push everything else out of the log.
const failuresLogged = 1000

// observed returns serve with its duration and outcome measured and logged.
func (p *peer) observed(name string, session *Session, serve func(context.Context, []byte) (conn.Reply, error)) func(context.Context, []byte) (conn.Reply, error) {
	return func(ctx context.Context, params []byte) (conn.Reply, error) {
		p.server.busy.Add(1)
		defer p.server.busy.Add(-1)
		start := time.Now()
		outcome, detail := wire.Internal, "panic" // unless serve returns
		defer func() { p.observe(ctx, name, session, time.Since(start), outcome, detail) }()
		reply, err := serve(ctx, params)
		outcome, detail = "", ""
		if err != nil {
			wired := toWire(err)
			outcome, detail = wired.Code, wired.Message
		}
		return reply, err
	}
}

// observe counts and logs one request; outcome is "" for success. The log never
// holds what a client sent or a file holds: the detail of an error is logged
// only where the error is a defect of mapd.
func (p *peer) observe(ctx context.Context, name string, session *Session, took time.Duration, outcome wire.Code, detail string) {
	m := p.server.metrics
	m.latency[name].add(took, outcome != "")
	level, result := slog.LevelDebug, "ok"
	if outcome != "" {
		m.failed(outcome)
		if n := p.failures.Add(1); n <= failuresLogged || n%failuresLogged == 0 {
			level = slog.LevelInfo
		}
		result = string(outcome)
	}
	if !p.server.log.Enabled(ctx, level) {
		return
	}
	id := "-" // a notification
	if r, ok := conn.FromContext(ctx); ok {
		id = r.ID
	}
	who := "-" // not initialized
	if session != nil {
		who = session.id
	}
	args := []any{"session", who, "pid", p.who.PID, "method", name, "id", id, "duration", took, "outcome", result}
	if outcome == wire.Internal {
		args = append(args, "err", detail)
	}
	p.server.log.Log(ctx, level, "request", args...)
}
