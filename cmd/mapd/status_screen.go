package main

import (
	"cmp"
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

	"mapd/rpc/client"
	"mapd/rpc/wire"
)

// showStatus prints a status: in columns on a terminal, else in lines that
// scripts can search.
func (a *app) showStatus(w io.Writer, s screen, result []byte) error {
	switch {
	case a.json:
		_, err := fmt.Fprintf(w, "%s\n", result)
		return err
	case !s.terminal:
		return printStatus(w, result)
	}
	var status wire.StatusResult
	if err := json.Unmarshal(result, &status); err != nil {
		return err
	}
	return statusTables(w, s, &status)
}

// statusTables prints what people ask a status for.
func statusTables(w io.Writer, s screen, status *wire.StatusResult) error {
	up := time.Duration(status.UptimeSeconds) * time.Second
	fmt.Fprintf(w, "%s %s build %s, pid %d, up %v\nsocket %s\n", s.paint(bold, "mapd"), status.Version, status.Build, status.PID, up, visible(status.Socket))
	fmt.Fprintf(w, "memory %s\n", largest(status.Memory))
	workspaces := [][]string{{"WORKSPACE", "STATE", "FILES", "INDEXED", "SKIPPED", "WATCHES", "SESSIONS"}}
	for _, ws := range status.Workspaces {
		state := ws.State
		if ws.Why != "" {
			state += ": " + visible(ws.Why)
		}
		workspaces = append(workspaces, []string{visible(ws.Root), state, strconv.Itoa(ws.Files), strconv.Itoa(ws.Indexed), strconv.Itoa(ws.Skipped), strconv.Itoa(ws.Watches), strconv.Itoa(ws.Sessions)})
	}
	sessions := [][]string{{"SESSION", "CLIENT", "PID", "REQUESTS", "RUNNING", "LEDGER", "FOLDERS"}}
	for _, one := range status.Sessions {
		name := one.ID
		if one.Name != "" {
			name += " " + strconv.Quote(one.Name)
		}
		pid := strconv.Itoa(one.PID)
		if !one.Attached {
			pid = "gone"
		}
		sessions = append(sessions, []string{name, visible(one.Client), pid, strconv.FormatInt(one.Requests, 10), strconv.Itoa(one.InFlight), mebibytes(one.Ledger), visible(strings.Join(one.Folders, " "))})
	}
	methods := [][]string{{"METHOD", "CALLS", "FAILED", "P50", "P99", "MAX"}}
	for _, m := range status.Methods {
		methods = append(methods, []string{m.Method, strconv.FormatInt(m.Count, 10), strconv.FormatInt(m.Failed, 10), microseconds(m.P50Micros).String(), microseconds(m.P99Micros).String(), microseconds(m.MaxMicros).String()})
	}
	for _, table := range [][][]string{workspaces, sessions, methods} {
		if len(table) == 1 {
			continue
		}
		fmt.Fprintln(w)
		if err := s.aligned(w, table); err != nil {
			return err
		}
	}
	if len(status.Errors) > 0 {
		fmt.Fprintf(w, "\n%s %s\n", s.paint(yellow, "errors"), list(status.Errors, plainNumber))
	}
	_, err := fmt.Fprintln(w, "\n"+s.paint(dim, "mapd status --json has the limits and all counters"))
	return err
}

// largest names the owners of memory, those of most first.
func largest(memory map[string]int64) string {
	const most = 5
	names := slices.SortedFunc(maps.Keys(memory), func(a, b string) int { return cmp.Or(cmp.Compare(memory[b], memory[a]), cmp.Compare(a, b)) })
	var parts []string
	for _, name := range names[:min(len(names), most)] {
		parts = append(parts, name+" "+mebibytes(memory[name]))
	}
	return strings.Join(parts, ", ")
}

// watchEvery is how often a watched status is shown.
const watchEvery = time.Second

// watchStatus shows a status again and again until ctx ends, which is no error,
// or the daemon does.
func (a *app) watchStatus(ctx context.Context, c *client.Client, s screen) error {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		result, err := c.CallRaw(ctx, wire.MethodStatus, struct{}{})
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return callError(err)
		}
		var page strings.Builder
		if s.terminal && !a.json {
			page.WriteString("\x1b[H\x1b[J") // over the last one
		}
		if err := a.showStatus(&page, s, result); err != nil {
			return err
		}
		if !s.terminal && !a.json {
			page.WriteString("\n")
		}
		if _, err := io.WriteString(a.stdout, page.String()); err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		case <-c.Done():
			return errors.New("the daemon has ended")
		}
	}
}
