package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"mapd/rpc/client"
	"mapd/rpc/wire"
)

func (a *app) statusCommand() *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show the running daemon: sessions, memory, counters, limits",
		Example: "  mapd status\n  mapd status --watch\n  mapd status --json",
		Long:    "Show the running daemon: sessions, workspaces, memory by owner, counters, limits, and how long\neach method takes; with --json the histograms too. It never starts one: without a daemon it fails.",
		Args:    usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.connectAny(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close()
			s := a.screenOf(a.stdout)
			if watch {
				return a.watchStatus(cmd.Context(), c, s)
			}
			result, err := c.CallRaw(cmd.Context(), wire.MethodStatus, struct{}{})
			if err != nil {
				return callError(err)
			}
			return a.showStatus(a.stdout, s, result)
		},
	}
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "show it again every second, until it is interrupted or the daemon ends")
	return cmd
}

func printStatus(w io.Writer, result []byte) error {
	var s wire.StatusResult
	if err := json.Unmarshal(result, &s); err != nil {
		return err
	}
	fmt.Fprintf(w, "mapd %s build %s\npid %d, up %v, socket %s\n", s.Version, s.Build, s.PID,
		time.Duration(s.UptimeSeconds)*time.Second, s.Socket)
	fmt.Fprintf(w, "memory: %s\n", list(s.Memory, mebibytes))
	fmt.Fprintf(w, "now: %s\n", list(s.Levels, plainNumber))
	fmt.Fprintf(w, "since the start: %s\n", list(s.Counters, plainNumber))
	if len(s.Errors) > 0 {
		fmt.Fprintf(w, "errors: %s\n", list(s.Errors, plainNumber))
	}
	fmt.Fprintf(w, "limits: %s\n", list(s.Limits, plainNumber))
	if st := s.Store; st != nil {
		fmt.Fprintf(w, "store %s: %s\n", st.Path, storeLine(st))
	}
	for _, m := range s.Methods {
		fmt.Fprintf(w, "method %s: %d calls, %d failed, p50 %v, p99 %v, max %v\n",
			m.Method, m.Count, m.Failed, microseconds(m.P50Micros), microseconds(m.P99Micros), microseconds(m.MaxMicros))
	}
	for _, session := range s.Sessions {
		fmt.Fprintf(w, "session %s %s%s: %d requests, %d in flight, folders %q\n",
			session.ID, session.Client, named(session.Name), session.Requests, session.InFlight, session.Folders)
	}
	for _, ws := range s.Workspaces {
		why := ""
		if ws.Why != "" {
			why = " (" + ws.Why + ")"
		}
		fmt.Fprintf(w, "workspace %q: %s%s\n", ws.Root, ws.State, why)
		if ws.Generation > 0 {
			fmt.Fprintf(w, "\t%d files, %d indexed, %d skipped%s, %d sessions, generation %d, %d watches, swept every %v while they fail, audited every %v\n",
				ws.Files, ws.Indexed, ws.Skipped, reasons(ws.SkippedWhy), ws.Sessions, ws.Generation, ws.Watches,
				time.Duration(ws.SweepMs)*time.Millisecond, time.Duration(ws.AuditMs)*time.Millisecond)
			fmt.Fprintf(w, "\t%d symbols, names %s, source %s\n", ws.Symbols, mebibytes(ws.NameBytes), mebibytes(ws.Source))
		}
	}
	return nil
}

// storeLine describes what is kept between daemons.
func storeLine(st *wire.StoreStatus) string {
	line := st.State
	if st.Why != "" {
		line += " (" + st.Why + ")"
	}
	return line + fmt.Sprintf(", %d outlines, %s on disk, %d hits, %d misses, %d damaged, %d written, %d dropped, %d evicted, %d flushes in %v",
		st.Entries, mebibytes(st.FileBytes), st.Hits, st.Misses, st.Damaged, st.Puts, st.Dropped, st.Evicted,
		st.Flushes, time.Duration(st.FlushMs)*time.Millisecond)
}

// reasons writes counts by reason, in parentheses.
func reasons(counts map[string]int) string {
	if len(counts) == 0 {
		return ""
	}
	parts := make([]string, 0, len(counts))
	for _, why := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", why, counts[why]))
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func named(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" %q", name)
}

// list writes values in the order of their names.
func list(values map[string]int64, format func(int64) string) string {
	parts := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, name+" "+format(values[name]))
	}
	return strings.Join(parts, ", ")
}

func plainNumber(n int64) string { return strconv.FormatInt(n, 10) }

func microseconds(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

func (a *app) stopCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "stop",
		Example: "  mapd stop",
		Short:   "End the running daemon and wait until it is gone",
		Args:    usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.connectAny(cmd.Context())
			if errors.Is(err, client.ErrNoDaemon) {
				fmt.Fprintln(a.stderr, "mapd: no daemon is running")
				return nil
			}
			if err != nil {
				return err
			}
			defer c.Close()
			return a.stop(cmd.Context(), c)
		},
	}
}

// stop asks the daemon to end and waits until its process is gone.
func (a *app) stop(ctx context.Context, c *client.Client) error {
	var status wire.StatusResult
	if err := c.Call(ctx, wire.MethodStatus, struct{}{}, &status); err != nil {
		return callError(err)
	}
	ended, err := watchProcess(ctx, status.PID)
	if err != nil {
		return err
	}
	var result wire.StopResult
	if err := c.Call(ctx, wire.MethodStop, struct{}{}, &result); err != nil {
		return callError(err)
	}
	if err := ended(); err != nil {
		return fmt.Errorf("wait for the end of the daemon, pid %d: %w", result.PID, err)
	}
	if a.json {
		return a.printJSON(result)
	}
	fmt.Fprintf(a.stderr, "mapd: daemon %d has ended\n", result.PID)
	return nil
}

// callError turns an error reply into what the command reports: invalid
// parameters are wrong usage.
func callError(err error) error {
	if errors.Is(err, wire.Errorf(wire.InvalidParams, "")) {
		return &usageError{err}
	}
	return err
}

// printJSON prints one object on one line.
func (a *app) printJSON(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "%s\n", b)
	return err
}
