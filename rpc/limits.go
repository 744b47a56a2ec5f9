package rpc

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"mapd/outline"
	"mapd/rpc/buffers"
	"mapd/rpc/conn"
	"mapd/workspace"
)

// Limits are all limits of a daemon. The zero value of a field is not usable:
// start from DefaultLimits.
type Limits struct {
	Conn      conn.Limits
	Workspace workspace.Limits
	Outline   outline.Limits
	Documents buffers.Limits // what the editor of one session has open

	LineShown    int           // bytes of a line before it is cut
	ViewBytes    int64         // memory of rendered views
	LineMapBytes int64         // memory of line maps between versions
	LedgerBytes  int64         // memory of all ledgers
	FindWait     time.Duration // how long a search waits for what is not indexed yet
	AllDocuments int64         // bytes of the documents that all editors have open
	ImageBytes   int           // bytes of an image that one answer carries
	Connections  int           // open at once
	Messages     int64         // bytes of the large messages of all connections
	Replies      int64         // bytes of replies that wait for the peers of all connections
	Sessions     int           // named sessions kept at once
	SessionKept  time.Duration // how long a detached named session is kept
	Coalesce     time.Duration // changes within it are told together
	Roots        int           // folders that are indexed at once
	RootIdle     time.Duration // an index is kept this long after its last session
	Idle         time.Duration // the daemon ends after this long without a connection
	Drain        time.Duration // how long mapd/stop waits for running requests
	Memory       int64         // GOMEMLIMIT of the daemon
	Store        int64         // bytes of the file of outlines, and of all files of names
}

// DefaultLimits returns the limits of a daemon that was not told otherwise.
func DefaultLimits() Limits {
	return Limits{
		Conn:         conn.DefaultLimits(),
		Workspace:    workspace.DefaultLimits(),
		Outline:      outline.DefaultLimits(),
		Documents:    buffers.Limits{Documents: 1000, Bytes: 64 << 20},
		LineShown:    2000,
		ViewBytes:    32 << 20,
		LineMapBytes: 16 << 20,
		LedgerBytes:  64 << 20,
		FindWait:     5 * time.Second,
		AllDocuments: 256 << 20,
		ImageBytes:   20 << 20,
		Connections:  4096,
		Messages:     256 << 20,
		Replies:      256 << 20,
		Sessions:     64,
		SessionKept:  24 * time.Hour,
		Coalesce:     50 * time.Millisecond,
		Roots:        2000,
		RootIdle:     10 * time.Minute,
		Idle:         30 * time.Minute,
		Drain:        5 * time.Second,
		Memory:       3 << 29,
		Store:        512 << 20,
	}
}

// namedLimit is a limit under the name that status shows and the environment
// sets: MAPD_LIMIT_ and the name in upper case.
type namedLimit struct {
	name string
	ptr  any // *int, *int64 or *time.Duration; the last in milliseconds
}

func (l *Limits) named() []namedLimit {
	return []namedLimit{
		{"frame_bytes", &l.Conn.Frame},
		{"header_bytes", &l.Conn.Header},
		{"batch", &l.Conn.Batch},
		{"in_flight", &l.Conn.InFlight},
		{"in_flight_bytes", &l.Conn.InFlightBytes},
		{"outgoing_bytes", &l.Conn.Outgoing},
		{"stall_ms", &l.Conn.Stall},
		{"depth", &l.Conn.Depth},
		{"name_bytes", &l.Conn.Name},
		{"linger_ms", &l.Conn.Linger},
		{"file_bytes", &l.Workspace.FileBytes},
		{"read_bytes", &l.Workspace.ReadBytes},
		{"history_bytes", &l.Workspace.HistoryBytes},
		{"outline_cache_bytes", &l.Workspace.OutlineBytes},
		{"failed_outline_ms", &l.Workspace.FailedOutline},
		{"dir_entries", &l.Workspace.DirEntries},
		{"dir_scan", &l.Workspace.DirScan},
		{"index_files", &l.Workspace.IndexFiles},
		{"index_bytes", &l.Workspace.IndexBytes},
		{"scan_bytes", &l.Workspace.ScanBytes},
		{"dirty_paths", &l.Workspace.DirtyPaths},
		{"watch_streams", &l.Workspace.WatchStreams},
		{"watches", &l.Workspace.Watches},
		{"sweep_ms", &l.Workspace.Sweep},
		{"audit_ms", &l.Workspace.Audit},
		{"outline_bytes", &l.Outline.Bytes},
		{"outline_format_bytes", &l.Outline.FormatBytes},
		{"outline_ms", &l.Outline.Time},
		{"outline_format_ms", &l.Outline.FormatTime},
		{"outline_memory_bytes", &l.Outline.Memory},
		{"line_bytes", &l.LineShown},
		{"view_bytes", &l.ViewBytes},
		{"line_map_bytes", &l.LineMapBytes},
		{"ledger_bytes", &l.LedgerBytes},
		{"find_wait_ms", &l.FindWait},
		{"documents", &l.Documents.Documents},
		{"document_bytes", &l.Documents.Bytes},
		{"all_document_bytes", &l.AllDocuments},
		{"image_bytes", &l.ImageBytes},
		{"connections", &l.Connections},
		{"open_files", &l.Workspace.OpenFiles},
		{"message_bytes", &l.Messages},
		{"reply_bytes", &l.Replies},
		{"sessions", &l.Sessions},
		{"session_kept_ms", &l.SessionKept},
		{"coalesce_ms", &l.Coalesce},
		{"roots", &l.Roots},
		{"root_idle_ms", &l.RootIdle},
		{"idle_ms", &l.Idle},
		{"drain_ms", &l.Drain},
		{"memory_bytes", &l.Memory},
		{"store_bytes", &l.Store},
	}
}

// Values returns the limits by name, for status.
func (l Limits) Values() map[string]int64 {
	out := map[string]int64{}
	for _, n := range l.named() {
		switch p := n.ptr.(type) {
		case *int:
			out[n.name] = int64(*p)
		case *int64:
			out[n.name] = *p
		case *time.Duration:
			out[n.name] = p.Milliseconds()
		}
	}
	return out
}

// LimitsFromEnv returns DefaultLimits with what the environment sets:
// MAPD_LIMIT_FRAME_BYTES and so on, for every name that status shows. A value
// must be a positive integer; times are in milliseconds.
func LimitsFromEnv(getenv func(string) string) (Limits, error) {
	l := DefaultLimits()
	for _, n := range l.named() {
		name := "MAPD_LIMIT_" + strings.ToUpper(n.name)
		text := getenv(name)
		if text == "" {
			continue
		}
		value, err := strconv.ParseInt(text, 10, 64)
		if err != nil || value < 1 {
			return l, fmt.Errorf("%s=%q: want a positive integer", name, text)
		}
		switch p := n.ptr.(type) {
		case *int:
			*p = int(value)
		case *int64:
			*p = value
		case *time.Duration:
			*p = time.Duration(min(value, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
		}
	}
	return l, nil
}
