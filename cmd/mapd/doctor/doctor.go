// Package doctor looks for what keeps mapd from working on this machine: the
// build, the socket, permissions, the configuration, the system's limits,
// workers, the store, and the clients that are set up to use it. It changes
// nothing, and starts no daemon.
//
// Each check gives at least one finding; one that finds something wrong names a
// remedy. The checks do not depend on each other, so one of them never hides what
// another would find.
package doctor

import (
	"context"
	"runtime"
	"time"

	"mapd/cmd/mapd/config"
	"mapd/outline"
	"mapd/rpc/client"
	"mapd/rpc/wire"
	"mapd/workspace/store"
)

// A Status says how a finding is to be taken.
type Status string

// The statuses.
const (
	OK      Status = "ok"
	Note    Status = "note"    // works, with a restriction that lies in the surroundings
	Problem Status = "problem" // something does not work, or not as it should
)

// Finding is what one check found.
type Finding struct {
	Check   string `json:"check"` // "build", "socket", …
	Status  Status `json:"status"`
	Finding string `json:"finding"`
	Remedy  string `json:"remedy,omitzero"` // of a problem or note: what to do
}

// Options say what to look at.
type Options struct {
	Getenv   func(string) string
	Version  string
	Build    func() (string, error)
	Root     string           // of the working directory; "" if it has none
	StateDir string           // "" if it is not known
	Config   string           // the user's configuration file; "" if there is none
	Warnings []config.Warning // about it and the one of Root
	Outline  outline.Limits
	Store    string      // the file of outlines that are kept; "" if it is not known
	Blobs    store.Blobs // what is kept of each workspace

	// Proc is where the system describes itself and its processes; "" is /proc.
	Proc string
}

// timeout bounds each check that waits for another process.
const timeout = 10 * time.Second

// Run makes all checks.
func Run(ctx context.Context, opt Options) []Finding {
	if opt.Proc == "" {
		opt.Proc = "/proc"
	}
	var out []Finding
	for _, check := range []struct {
		name string
		run  func(context.Context, *Options) []Finding
	}{
		{"build", checkBuild}, {"socket", checkSocket}, {"permissions", checkPermissions}, {"configuration", checkConfiguration},
		{"watches", checkWatches}, {"files", checkFiles}, {"store", checkStore}, {"workers", checkWorkers}, {"clients", checkClients},
	} {
		for _, f := range check.run(ctx, &opt) {
			f.Check = check.name
			out = append(out, f)
		}
	}
	return out
}

// Well reports whether there is no problem.
func Well(findings []Finding) bool {
	for _, f := range findings {
		if f.Status == Problem {
			return false
		}
	}
	return true
}

func ok(finding string) Finding { return Finding{Status: OK, Finding: finding} }

func problem(finding, remedy string) Finding {
	return Finding{Status: Problem, Finding: finding, Remedy: remedy}
}

func checkBuild(_ context.Context, opt *Options) []Finding {
	build, err := opt.Build()
	if err != nil {
		return []Finding{problem("this program has no build id: "+err.Error(), "build it with the go command, as the README says")}
	}
	platform := runtime.GOOS + "/" + runtime.GOARCH
	out := []Finding{ok("mapd " + opt.Version + " build " + build + ", " + runtime.Version() + ", " + platform)}
	if runtime.GOOS != "linux" {
		out = append(out, problem(platform+" is not supported", "run it on Linux; elsewhere it compiles and is not tested"))
	}
	return out
}

// daemon asks the daemon that runs what it is.
func daemon(ctx context.Context, getenv func(string) string) (*wire.StatusResult, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c, err := client.Dial(ctx, client.Options{AnyBuild: true, Getenv: getenv, Timeout: timeout})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if _, err := c.Initialize(ctx, wire.InitializeParams{ClientInfo: &wire.ClientInfo{Name: "mapd-doctor"}}); err != nil {
		return nil, err
	}
	var status wire.StatusResult
	if err := c.Call(ctx, wire.MethodStatus, struct{}{}, &status); err != nil {
		return nil, err
	}
	return &status, nil
}

func checkConfiguration(_ context.Context, opt *Options) []Finding {
	var out []Finding
	for _, w := range opt.Warnings {
		out = append(out, problem(w.String(), "mend the line, or take it out"))
	}
	switch {
	case len(out) > 0:
	case opt.Config == "":
		out = []Finding{ok("none of the user, none is needed")}
	default:
		out = []Finding{ok(opt.Config)}
	}
	return out
}
