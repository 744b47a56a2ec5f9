package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"mapd/outline"
	"mapd/outline/sandbox"
	"mapd/rpc"
	"mapd/rpc/socket"
	"mapd/rpc/wire"
	"mapd/workspace"
	"mapd/workspace/store"
	"mapd/workspace/watch"
)

// goneCheck is how often the daemon looks whether its socket is still there.
const goneCheck = time.Second

// runDaemon is the daemon that a client started: it has no terminal and logs to
// a file.
func runDaemon(ctx context.Context, getenv func(string) string) int {
	conf := configure(getenv)
	log := slog.New(slog.DiscardHandler)
	if file, err := openLog(getenv); err == nil {
		defer file.Close()
		log = newLogger(file, conf.getenv)
	}
	err := serveSocket(ctx, conf, log, func(string) {})
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, socket.ErrHeld): // another client's daemon was first
		log.Debug("not needed", "err", err)
		return exitOK
	default:
		log.Error("daemon failed", "err", err)
		return exitFailed
	}
}

// serveSocket answers on the user's socket until it is stopped, idle, told by a
// signal, or its socket is gone.
func serveSocket(ctx context.Context, conf *configuration, log *slog.Logger, ready func(path string)) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	path, err := socket.Path(conf.getenv)
	if err != nil {
		return err
	}
	var strangers atomic.Int64 // peers that the socket has refused
	server, end, err := newServer(conf, log, path, path+cookiesSuffix, func(events, _ map[string]int64) {
		events["connections_refused"] += strangers.Load()
	})
	if err != nil {
		return err
	}
	defer end()
	listener, err := socket.Listen(path)
	if err != nil {
		return err
	}
	defer listener.Close()
	workspace.RemoveCookies(path + cookiesSuffix) // of a daemon that was killed

	watching, unwatch := context.WithCancel(ctx)
	var watchers sync.WaitGroup
	watchers.Go(func() {
		if listener.Gone(watching, goneCheck) == nil {
			log.Warn("ending: the socket is gone", "socket", path)
			server.Stop()
		}
	})
	watchers.Go(func() { trim(watching) })
	defer func() { unwatch(); watchers.Wait() }()

	log.Info("ready", "socket", path, "pid", os.Getpid())
	ready(path)
	accept := func() (io.ReadWriteCloser, rpc.Peer, error) {
		c, peer, err := listener.Accept(func(err error) {
			strangers.Add(1)
			log.Warn("connection refused", "err", err)
		})
		if err != nil {
			return nil, rpc.Peer{}, err
		}
		return c, rpc.Peer{PID: peer.PID}, nil
	}
	err = server.Serve(ctx, accept, func() { listener.Close() })
	log.Info("ended", "err", err)
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// cookiesSuffix makes the name of the directory of cookies from that of the
// socket, whose lock guards it.
const cookiesSuffix = ".cookies"

// newServer wires the rooms. end closes them, after the server has ended.
func newServer(conf *configuration, log *slog.Logger, path, cookies string, counters func(events, levels map[string]int64)) (server *rpc.Server, end func(), err error) {
	conf.log(log)
	getenv := conf.getenv
	limits, err := rpc.LimitsFromEnv(getenv)
	if err != nil {
		return nil, nil, err
	}
	fit(&limits)
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limits.Memory)
	}
	roots, err := conf.roots()
	if err != nil {
		return nil, nil, err
	}
	build, err := socket.Build()
	if err != nil {
		return nil, nil, err
	}
	workers := sandbox.NewPool(limits.Outline.Sandbox())
	outlines := outline.New(outline.Options{Limits: limits.Outline, Pool: workers, Log: log})
	opt := workspace.Options{
		Limits: limits.Workspace, Outlines: outlines, Version: outlines.Version() + " " + build, Journal: journal(getenv),
		Settings: workspace.Settings{Ignore: conf.user.Ignore, Languages: conf.user.Languages},
		Project:  conf.projects(limits, log),
	}
	var kept *store.Store
	if path != "" { // a private daemon leaves nothing behind
		if outlines, names := openStore(getenv, limits.Store, log); outlines != nil {
			kept, opt.Store, opt.Shelf = outlines, outlines, names
		}
	}
	cache := workspace.NewCache(opt)
	pressing, relax := context.WithCancel(context.Background())
	var watcher sync.WaitGroup
	watcher.Go(func() { press(pressing, cache.Press) })
	server = rpc.NewServer(rpc.Options{
		Limits: limits, Cache: cache, Version: version(), Build: build,
		Socket: path, Roots: roots, Cookies: cookies, Sync: getenv("MAPD_FSYNC") != "0", Log: log,
		Store: func() *wire.StoreStatus { return storeStatus(kept) },
		Counters: func(events, levels map[string]int64) {
			stats := workers.Stats()
			levels["workers"] = int64(stats.Live)
			events["workers_started"], events["workers_failed"] = stats.Started, stats.Failed
			if counters != nil {
				counters(events, levels)
			}
		},
	})
	return server, func() {
		relax()
		watcher.Wait()
		if err := errors.Join(server.Close(), cache.Close(), workers.Close()); err != nil {
			log.Error("close", "err", err)
		}
		if kept != nil {
			kept.Close()
		}
		workspace.RemoveCookies(cookies)
	}, nil
}

// projects returns what reads the configuration of a project; warnings go to the
// log.
func (conf *configuration) projects(limits rpc.Limits, log *slog.Logger) func(file string, text []byte) workspace.Settings {
	return func(file string, text []byte) workspace.Settings {
		set, warnings := conf.project(file, text, limits)
		for _, w := range warnings {
			log.Warn("configuration", "warning", w.String())
		}
		return set
	}
}

// fit lowers limits to what the system gives to this process and leaves to others.
func fit(limits *rpc.Limits) {
	connections, files := descriptorRoom()
	limits.Connections = min(limits.Connections, connections)
	limits.Workspace.OpenFiles = min(limits.Workspace.OpenFiles, files)
	if streams, watches := watch.Room(); streams > 0 && watches > 0 {
		limits.Workspace.WatchStreams = min(limits.Workspace.WatchStreams, streams)
		limits.Workspace.Watches = min(limits.Workspace.Watches, watches)
	}
}

// reservedDescriptors are kept from connections at most: for files that are
// read, for workers and for the log. Where there are few, half are kept.
const reservedDescriptors = 512

// descriptorRoom returns how many connections the limit of descriptors leaves
// room for, and how many files that are read at once: a read holds the file, its
// node and for a moment a link of /proc, and a quarter of what is kept is for
// all else.
func descriptorRoom() (connections, files int) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return reservedDescriptors, reservedDescriptors / 4
	}
	descriptors := int(min(uint64(limit.Cur), 1<<30)) //nolint:unconvert // signed on some systems
	reserved := min(reservedDescriptors, descriptors/2)
	return max(1, descriptors-reserved), max(1, reserved/4)
}

// journal is where daemons note what they write, or "" without a state
// directory: then leftovers of one that was killed stay until the next write.
func journal(getenv func(string) string) string {
	state, err := stateDir(getenv)
	if err != nil {
		return ""
	}
	return filepath.Join(state, "writes")
}

// allowedRoots resolves the folders of MAPD_ROOTS, a list like PATH.
func allowedRoots(list string) ([]string, error) {
	var out []string
	for _, dir := range filepath.SplitList(list) {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || !filepath.IsAbs(real) {
			return nil, fmt.Errorf("MAPD_ROOTS: %q is no absolute path of a directory", dir)
		}
		out = append(out, real)
	}
	return out, nil
}

func (a *app) serveCommand() *cobra.Command {
	var flags serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon in the foreground",
		Long: "Run the daemon in the foreground. It prints \"ready SOCKET\" once it accepts connections.\n" +
			"With --stdio it answers one client on stdin and stdout, with no socket and shared with nobody.",
		Example: "  mapd serve --log debug\n  mapd serve --root . --limit idle_ms=60000\n  mapd serve --stdio",
		Args:    usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			conf, err := flags.configure(a.getenv)
			if err != nil {
				return &usageError{err}
			}
			log := newLogger(a.stderr, conf.getenv)
			if flags.stdio {
				return a.serveStdio(cmd.Context(), conf, log)
			}
			err = serveSocket(cmd.Context(), conf, log, func(path string) { fmt.Fprintf(a.stdout, "ready %s\n", path) })
			if errors.Is(err, socket.ErrHeld) {
				return fmt.Errorf("%w; 'mapd status' shows it, 'mapd stop' ends it", err)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&flags.stdio, "stdio", false, "answer one client on stdin and stdout")
	cmd.Flags().StringVar(&flags.log, "log", "", "log at this `level`: info or debug (default $MAPD_LOG)")
	cmd.Flags().StringArrayVar(&flags.roots, "root", nil, "allow this `directory` as a root and no others; may be repeated (default $MAPD_ROOTS)")
	cmd.Flags().StringArrayVar(&flags.limits, "limit", nil, "set a limit that 'mapd status' shows, as `name=value`; may be repeated (default $MAPD_LIMIT_NAME)")
	return cmd
}

// serveFlags are what the command line says of a daemon.
type serveFlags struct {
	stdio         bool
	log           string
	roots, limits []string
}

// configure puts the flags above the environment.
func (f *serveFlags) configure(getenv func(string) string) (*configuration, error) {
	values := map[string]string{}
	switch f.log {
	case "":
	case "info", "debug":
		values["MAPD_LOG"] = f.log
	default:
		return nil, fmt.Errorf("--log %s: want info or debug", f.log)
	}
	if len(f.roots) > 0 {
		for i, dir := range f.roots {
			abs, err := filepath.Abs(dir)
			if err != nil {
				return nil, err
			}
			f.roots[i] = abs
		}
		values["MAPD_ROOTS"] = strings.Join(f.roots, string(filepath.ListSeparator))
	}
	known := rpc.DefaultLimits().Values()
	for _, limit := range f.limits {
		name, value, ok := strings.Cut(limit, "=")
		if _, is := known[name]; !ok || !is {
			return nil, fmt.Errorf("--limit %s: want name=value with a name that 'mapd status' shows", limit)
		}
		values[limitVariable(name)] = value
	}
	return configure(overlay(getenv, values)), nil
}

// serveStdio is a private daemon for the client at the other end of stdin and
// stdout. It ends with that client.
func (a *app) serveStdio(ctx context.Context, conf *configuration, log *slog.Logger) error {
	cookies, err := os.MkdirTemp("", "mapd-cookies-")
	if err != nil {
		log.Warn("without cookies, searches scan the workspace", "err", err)
	}
	server, end, err := newServer(conf, log, "", cookies, nil)
	if err != nil {
		return err
	}
	defer end()
	farewell := &farewell{}
	a.stdin = io.TeeReader(a.stdin, farewell)
	if err := server.ServeConn(ctx, a.stdio(), rpc.Peer{}); err != nil {
		return err
	}
	return farewell.err()
}

// version is the version of the program as the go command recorded it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version and the build",
		Example: "  mapd version\n  mapd version --json",
		Args:    usage(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			build, err := socket.Build()
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					Version string `json:"version"`
					Build   string `json:"build"`
				}{version(), build})
			}
			_, err = fmt.Fprintf(a.stdout, "mapd %s build %s\n", version(), build)
			return err
		},
	}
}
