package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"mapd/rpc/socket"
)

// ErrNoDaemon is returned when there is no daemon and none was to be started.
var ErrNoDaemon = errors.New("no daemon is running")

// Options say how to reach the daemon. The zero value connects to a running
// daemon of this build.
type Options struct {
	// Socket is the path of the socket; "" is where Getenv says it is.
	Socket string
	// Getenv reads the environment; nil is os.Getenv.
	Getenv func(string) string
	// Start starts a daemon if there is none.
	Start bool
	// AnyBuild accepts a daemon of another build: to see it or to stop it.
	AnyBuild bool
	// Timeout bounds Dial, and Initialize with its retries; 0 is DefaultTimeout.
	Timeout time.Duration
	// Notify gets the notifications of the daemon in their order. It must not
	// block: replies wait behind it. May be nil.
	Notify func(method string, params []byte)
}

// DefaultTimeout bounds how long a client waits for a daemon to answer.
const DefaultTimeout = 15 * time.Second

// The pauses between two looks at a socket that is not there yet.
const (
	firstPause = time.Millisecond
	lastPause  = 25 * time.Millisecond
)

// A daemon that ends before it answers is started again after a pause that
// doubles: the one before it may be about to notice that its socket is gone and
// still hold the lock.
const (
	startAttempts = 6
	restartPause  = 50 * time.Millisecond
)

// Dial connects to the daemon, and starts it if there is none and opt.Start is
// set. It returns ErrNoDaemon if there is none, a *socket.DirError or an error
// that wraps socket.ErrRefused if the one there cannot be trusted.
func Dial(ctx context.Context, opt Options) (*Client, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	connection, err := dialInTime(ctx, opt)
	if err != nil {
		return nil, err
	}
	return newClient(connection, opt), nil
}

// Connect is Dial for a caller that brings its own bytes, such as an editor that
// speaks LSP: it returns the bare connection.
func Connect(ctx context.Context, opt Options) (*net.UnixConn, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	return dialInTime(ctx, opt)
}

func (opt Options) withDefaults() (Options, error) {
	if opt.Getenv == nil {
		opt.Getenv = os.Getenv
	}
	if opt.Timeout == 0 {
		opt.Timeout = DefaultTimeout
	}
	if opt.Socket == "" {
		path, err := socket.Path(opt.Getenv)
		if err != nil {
			return opt, err
		}
		opt.Socket = path
	}
	path, err := filepath.Abs(opt.Socket) // the daemon works in another directory
	if err != nil {
		return opt, fmt.Errorf("socket path %q: %w", opt.Socket, err)
	}
	opt.Socket = path
	return opt, nil
}

func dialInTime(ctx context.Context, opt Options) (*net.UnixConn, error) {
	ctx, cancel := context.WithTimeout(ctx, opt.Timeout)
	defer cancel()
	return dial(ctx, opt)
}

// dial returns a connection to a daemon that may be about to end.
func dial(ctx context.Context, opt Options) (*net.UnixConn, error) {
	s := starter{path: opt.Socket}
	defer s.close()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		connection, err := connect(opt.Socket)
		switch {
		case errors.Is(err, errFull):
		case !errors.Is(err, ErrNoDaemon) || !opt.Start:
			return connection, err
		default:
			if err := s.step(); err != nil {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("no daemon answers on %s: %w; run 'mapd serve' to see why", opt.Socket, ctx.Err())
		case err := <-s.exited:
			s.ended(err)
		case <-time.After(pause):
		}
	}
}

// errFull says that there is a daemon and that many wait for it to accept them.
var errFull = errors.New("the daemon has more clients waiting than the system allows")

// connect tries once.
func connect(path string) (*net.UnixConn, error) {
	dir := filepath.Dir(path)
	if err := socket.CheckDir(dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w (%s)", ErrNoDaemon, path)
		}
		return nil, err
	}
	connection, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return nil, errFull
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("%w (%s)", ErrNoDaemon, path)
	case err != nil:
		return nil, fmt.Errorf("connect to the daemon: %w", err)
	}
	if _, err := socket.CheckPeer(connection); err != nil {
		connection.Close()
		return nil, fmt.Errorf("the daemon on %s: %w", path, err)
	}
	return connection, nil
}

// starter starts a daemon unless another client is doing so. The lock is let go
// only when the daemon answers or the client gives up, so that of many clients
// one starts one.
type starter struct {
	path     string
	lock     *os.File
	exited   <-chan error // of the process that is starting; nil if none
	attempts int
	next     time.Time // not before then
	lastErr  error     // why the last one ended
}

// step starts a daemon if it is this client's turn.
func (s *starter) step() error {
	if s.exited != nil || time.Now().Before(s.next) {
		return nil
	}
	if s.lock == nil {
		lock, err := tryLock(s.path + ".start")
		if err != nil || lock == nil {
			return err
		}
		s.lock = lock
		// Whoever had the lock before may have been successful.
		if connection, err := connect(s.path); err == nil {
			return connection.Close()
		}
	}
	if s.attempts == startAttempts {
		return fmt.Errorf("the daemon ends before it answers on %s (%v): run 'mapd serve' to see why", s.path, s.lastErr)
	}
	s.attempts++
	exited, err := spawn(s.path)
	if err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	s.exited = exited
	return nil
}

// ended notes how the process that was started has ended.
func (s *starter) ended(err error) {
	s.exited = nil
	s.lastErr = err
	if err == nil {
		s.lastErr = errors.New("exit status 0")
	}
	s.next = time.Now().Add(restartPause << (s.attempts - 1))
}

func (s *starter) close() {
	if s.lock != nil {
		s.lock.Close()
	}
}
