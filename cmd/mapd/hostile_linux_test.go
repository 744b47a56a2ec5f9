package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"golang.org/x/sys/unix"
)

// baseRSS is what the daemon may take beside what its caches hold and what the
// limits that an attack aims at allow.
const baseRSS = 512 << 20

// restRSS is what the daemon may keep beside its caches once an attack is over.
const restRSS = baseRSS * 3 / 4

// patience bounds every wait of these tests: it is long enough for a machine
// that does much else, so that only what never comes fails.
const patience = 60 * time.Second

// An attack is one row of the table: what one client, file or process does
// while an innocent session goes on reading.
type attack struct {
	name string
	// allow is the memory that the limits in force let this attack take beyond
	// baseRSS.
	allow int64
	// soak marks the heavy ones, which run with MAPD_SUITE=soak only.
	soak bool
	// own starts a daemon for the attack alone.
	own func(t *testing.T) *house
	// ends says that the daemon is meant to end; its innocent session with it.
	ends bool
	// run attacks and returns what the offender got. It fails t if that is wrong.
	run func(t *testing.T, h *house) string
}

// result is a row of the printed table.
type result struct {
	name, got           string
	before, after, peak int64 // bytes of RSS
	reads               int
	p50, p99            time.Duration
}

// TestHostile drives the daemon, a process of its own, with what no client and
// no file should do. Beside each attack an innocent session reads a file over
// and over: it must always be served, with the right bytes, by the same process;
// memory stays within the limits, and goroutines and descriptors come back to
// where they were.
func TestHostile(t *testing.T) {
	attacks := slices.Concat(attacksOnFrames(), attacksOnMessages(), attacksOnBudgets(), attacksByPaths(), attacksByProcesses())
	if !raceEnabled { // files of many MB, most of them for processes of one thread
		attacks = append(attacks, attacksByFiles()...)
	}
	shared := startHouse(t, "mapd", "serve")
	var table []result
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			if a.soak {
				needSuite(t, "soak")
			}
			if raceEnabled && a.allow > chokeAllowed {
				t.Skip("too large for the race detector")
			}
			h := shared
			if a.own != nil {
				h = a.own(t)
			}
			h.mkdir(t)
			if r, done := h.suffer(t, a); done {
				table = append(table, r)
			}
		})
	}
	if testing.Verbose() {
		printTable(os.Stdout, table)
	}
}

// needSuite skips a test unless the variable MAPD_SUITE lists its suite.
func needSuite(t *testing.T, suite string) {
	t.Helper()
	if !slices.Contains(strings.Split(os.Getenv("MAPD_SUITE"), ","), suite) {
		t.Skipf("set MAPD_SUITE=%s to run it", suite)
	}
}

// suffer runs one attack and judges what it did to everybody else. done is
// false if the attack was skipped.
func (h *house) suffer(t *testing.T, a attack) (r result, done bool) {
	t.Helper()
	r = result{name: a.name, before: h.rss(t)}
	cachedBefore := h.cached(t)
	h.resetPeak(t)
	h.indexed(t)
	base := h.levels(t)
	h.innocent.reset()
	if a.ends { // nobody is left to look at afterwards
		r.reads, r.p50, r.p99 = h.innocent.figures(t)
	}
	r.got = a.run(t, h)
	h.hangUp()
	h.checkLog(t)
	if a.ends {
		return r, true
	}
	h.settle(t, base)
	r.reads, r.p50, r.p99 = h.innocent.figures(t)
	cached := max(cachedBefore, h.cached(t))
	if r.peak = h.peak(t); r.peak > baseRSS+cached+a.allow && !raceEnabled {
		t.Errorf("RSS rose to %d MiB; allowed are %d, %d for the caches and %d for this attack", r.peak>>20, int64(baseRSS)>>20, cached>>20, a.allow>>20)
	}
	r.after = h.shrink(t, restRSS+h.cached(t))
	if pid := h.pidOnSocket(t); pid != h.pid {
		t.Errorf("process %d answers, it was %d", pid, h.pid)
	}
	return r, true
}

// settle waits until goroutines and descriptors are back at base. Workers come
// and go with the files that are parsed, and each has its share.
func (h *house) settle(t *testing.T, base levels) {
	t.Helper()
	const (
		goroutinesOfWorker  = 3
		descriptorsOfWorker = 4
		spare               = 6 // of requests that are under way beside
	)
	deadline := time.Now().Add(patience)
	for {
		now := h.levels(t)
		workers := max(0, now.workers-base.workers)
		goroutines := base.goroutines + workers*goroutinesOfWorker + spare
		descriptors := base.descriptors + workers*descriptorsOfWorker + spare
		if now.goroutines <= goroutines && now.descriptors <= descriptors && now.inFlight <= 2 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("left behind: %+v, before it was %+v", now, base)
			return
		}
		wait(10 * time.Millisecond)
	}
}

// shrink waits until the daemon has given back what it took beyond most, and
// returns its RSS.
func (h *house) shrink(t *testing.T, most int64) int64 {
	t.Helper()
	for deadline := time.Now().Add(patience); ; wait(50 * time.Millisecond) {
		now := h.rss(t)
		if now <= most || raceEnabled {
			return now
		}
		if time.Now().After(deadline) {
			t.Errorf("RSS stays at %d MiB, %d MiB are allowed", now>>20, most>>20)
			return now
		}
	}
}

// wait is the pause of a loop that looks at another process, which sends no
// signal when it changes.
func wait(d time.Duration) { <-time.After(d) }

// printTable prints sizes in KiB.
func printTable(w io.Writer, table []result) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "\ninput\tthe offender got\tRSS before KiB\tafter\tpeak\treads beside\tp50\tp99")
	for _, r := range table {
		after, peak := fmt.Sprint(r.after>>10), fmt.Sprint(r.peak>>10)
		if r.after == 0 {
			after, peak = "ended", "ended"
		}
		fmt.Fprintf(out, "%s\t%s\t%d\t%s\t%s\t%d\t%v\t%v\n", r.name, clipped(r.got), r.before>>10, after, peak,
			r.reads, r.p50.Round(time.Microsecond), r.p99.Round(time.Microsecond))
	}
	out.Flush()
}

func clipped(s string) string {
	const most = 110
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = s[:most] + "…"
	}
	return s
}

// percentile returns the p-th percentile of times, which it sorts.
func percentile(times []time.Duration, p int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[min(len(times)-1, len(times)*p/100)]
}

// canOpen returns how many descriptors this process may have, at most want.
func canOpen(t *testing.T, want int) int {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	const others = 200
	return min(want, int(min(limit.Cur, 1<<30))-others)
}

// asRoot skips a test that needs to be root.
func asRoot(t *testing.T) {
	t.Helper()
	if syscall.Geteuid() != 0 {
		t.Skip("only root can do this")
	}
}
