package rpc

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"mapd/rpc/conn"
	"mapd/rpc/wire"
	"mapd/workspace"
)

// status answers mapd/status.
func (s *Session) status(context.Context, struct{}) (*wire.StatusResult, error) {
	return s.server.Status(), nil
}

// Status describes the daemon.
func (s *Server) Status() *wire.StatusResult {
	r := &wire.StatusResult{
		Version:       s.opt.Version,
		Build:         s.opt.Build,
		PID:           os.Getpid(),
		UptimeSeconds: int64(time.Since(s.started) / time.Second),
		Protocol:      wire.Protocol,
		Socket:        s.opt.Socket,
		Limits:        s.opt.Limits.Values(),
		Memory:        s.memory(),
		Sessions:      s.sessionStatus(),
		Methods:       s.metrics.methodStatus(),
		LineHashes:    "recomputed",
	}
	if s.opt.Store != nil {
		r.Store = s.opt.Store()
	}
	s.count(r)
	r.Workspaces = s.workspaceStatus(r.Sessions)
	for _, w := range r.Workspaces {
		r.Memory["names"] += w.NameBytes
	}
	return r
}

// workspaceStatus describes the roots that are indexed, and the folders of
// sessions that are not.
func (s *Server) workspaceStatus(sessions []wire.SessionStatus) []wire.WorkspaceStatus {
	known := map[string]bool{}
	out := s.roots.status()
	for _, one := range out {
		known[one.Root] = true
	}
	for _, session := range sessions {
		for _, root := range session.Folders {
			if !known[root] {
				known[root] = true
				out = append(out, wire.WorkspaceStatus{Root: root, State: string(workspace.Degraded), Why: bareWhy})
			}
		}
	}
	slices.SortFunc(out, func(a, b wire.WorkspaceStatus) int { return strings.Compare(a.Root, b.Root) })
	return out
}

// bareWhy is why a bare folder is degraded.
const bareWhy = "a bare folder is neither indexed nor watched: every answer comes from the file itself"

// memory returns bytes by owner.
func (s *Server) memory() map[string]int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	stats := s.cache.Stats()
	ledgers, _ := s.ledgers.Bytes()
	return map[string]int64{
		"heap":     int64(m.HeapAlloc),
		"from_os":  int64(m.Sys - m.HeapReleased),
		"history":  stats.HistoryBytes,
		"outlines": stats.OutlineBytes,
		"views":    s.views.Bytes(),
		"texts":    s.texts.Used(),
		"ledgers":  ledgers,
	}
}

// count fills in what is counted: of events, of what there is right now, and the
// memory of connections.
func (s *Server) count(r *wire.StatusResult) {
	var live conn.Stats
	s.mu.Lock()
	connections := int64(len(s.peers))
	for p := range s.peers {
		if c := p.connection(); c != nil {
			one := c.Stats()
			addStats(&live, one)
			live.InFlight += one.InFlight
			live.InFlightBytes += one.InFlightBytes
			live.QueuedBytes += one.QueuedBytes
		}
	}
	s.mu.Unlock()
	m := s.metrics
	m.mu.Lock()
	total, served, refused := m.ended, m.served, m.refused
	m.mu.Unlock()
	addStats(&total, live)
	var requests int64
	for _, method := range r.Methods {
		requests += method.Count
	}
	files := s.cache.Stats()
	r.Memory["requests"], r.Memory["outgoing"], r.Memory["messages"] = live.InFlightBytes, live.QueuedBytes, s.messages.Used()
	r.Memory["replies"] = s.replies.Used()
	r.Errors = m.errorStatus(total)
	r.Counters = map[string]int64{
		"connections":         served,
		"connections_refused": refused,
		"frames_received":     total.Received,
		"frames_sent":         total.Sent,
		"frames_malformed":    total.Malformed,
		"requests":            requests,
		"busy":                total.Busy,
		"panics":              total.Panics,
		"reads":               files.Reads,
		"reads_known":         files.Hits,
		"reads_unstable":      files.Unstable,
		"outlines_made":       files.OutlinesMade,
		"versions_evicted":    files.Evicted,
	}
	r.Levels = map[string]int64{
		"connections":   connections,
		"in_flight":     int64(live.InFlight),
		"goroutines":    int64(runtime.NumGoroutine()),
		"versions":      int64(files.Versions),
		"outlines":      int64(files.Outlines),
		"outline_jobs":  int64(files.OutlineJobs),
		"watch_streams": int64(files.WatchStreams),
		"watches":       int64(files.Watches),
	}
	if n := descriptors(); n > 0 {
		r.Levels["descriptors"] = n
	}
	if s.opt.Counters != nil {
		s.opt.Counters(r.Counters, r.Levels)
	}
}

// descriptors returns how many files this process holds open, 0 if the system
// does not tell. The one it takes to look is not counted.
func descriptors() int64 {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return 0
	}
	return int64(len(entries)) - 1
}

func (s *Server) sessionStatus() []wire.SessionStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []wire.SessionStatus
	for p := range s.peers {
		session, _ := p.attached()
		if session == nil {
			continue
		}
		folders := session.folders.Load().Roots()
		for i, f := range folders {
			folders[i] = wireText(f)
		}
		out = append(out, wire.SessionStatus{
			ID: session.id, Name: session.name, Client: session.client, PID: session.pid,
			Folders: folders, Attached: true,
			InFlight: p.connection().Stats().InFlight, Requests: session.requests.Load(),
			Ledger: session.ledger.Bytes(),
		})
	}
	for name, owner := range s.named {
		if owner.peer == nil {
			out = append(out, wire.SessionStatus{ID: owner.id, Name: name, Folders: []string{}, Ledger: owner.ledger.Bytes()})
		}
	}
	slices.SortFunc(out, func(a, b wire.SessionStatus) int {
		return strings.Compare(a.ID+"\x00"+a.Name, b.ID+"\x00"+b.Name)
	})
	return out
}

// panicked logs a recovered panic with its stack and returns what the client
// gets.
func (s *Server) panicked(where string, r any) *wire.Error {
	s.log.Error("panic", "in", where, "panic", r, "stack", string(debug.Stack()))
	return wire.Errorf(wire.Internal, "%s failed inside mapd; the log has the details", where)
}
