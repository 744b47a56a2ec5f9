package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"mapd/rpc/client"
	"mapd/rpc/wire"
)

// forgetTime bounds how long the end of a bridge waits for the daemon to drop
// its ledger.
const forgetTime = time.Second

// daemon is the session with the daemon. It is opened when it is needed and
// opened again when its connection was lost: by its name it is the same session
// then, unless the daemon itself was restarted.
type daemon struct {
	opt   Options
	name  string // of the session; "" if the daemon has no room for named ones
	named bool   // by the user, so that the ledger stays

	turn chan struct{} // holds one element while nobody uses what follows

	client  *client.Client // nil before the first dial
	ready   bool           // the session of client is open
	folders []string       // of the session
}

func newDaemon(opt Options) *daemon {
	opt.Daemon.Start = true
	d := &daemon{opt: opt, name: opt.Session, named: opt.Session != "", turn: make(chan struct{}, 1)}
	if !d.named {
		d.name = "mcp-" + rand.Text()
	}
	d.turn <- struct{}{}
	return d
}

// take waits for the turn of the caller, who gives it back.
func (d *daemon) take(ctx context.Context) error {
	select {
	case <-d.turn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (d *daemon) give() { d.turn <- struct{}{} }

// warm connects, so that a daemon is there when the first call comes. What goes
// wrong goes wrong again in that call, which says so.
func (d *daemon) warm(ctx context.Context) {
	if d.take(ctx) != nil {
		return
	}
	defer d.give()
	if err := d.dial(ctx); err != nil {
		d.opt.Log.Debug("no daemon yet", "err", err)
	}
}

// dial connects unless there is a live connection.
func (d *daemon) dial(ctx context.Context) error {
	if d.client != nil {
		select {
		case <-d.client.Done():
			d.drop()
		default:
			return nil
		}
	}
	c, err := client.Dial(ctx, d.opt.Daemon)
	d.client = c
	return err
}

func (d *daemon) drop() {
	if d.client != nil {
		d.client.Close()
	}
	d.client, d.ready = nil, false
}

// open returns a session with these folders, which are absolute paths.
func (d *daemon) open(ctx context.Context, clientName string, folders []string) (*client.Client, error) {
	if err := d.take(ctx); err != nil {
		return nil, err
	}
	defer d.give()
	if err := d.dial(ctx); err != nil {
		return nil, err
	}
	if d.ready {
		return d.client, d.move(folders)
	}
	err := d.initialize(ctx, clientName, folders)
	if errors.Is(err, &wire.Error{Code: wire.ServerBusy}) && !d.named {
		// As many named sessions as the daemon takes are in use: this one does
		// without a name, and loses its ledger with its connection.
		d.name = ""
		d.drop()
		if err = d.dial(ctx); err == nil {
			err = d.initialize(ctx, clientName, folders)
		}
	}
	if err != nil {
		d.drop()
		return nil, err
	}
	d.ready, d.folders = true, folders
	return d.client, nil
}

func (d *daemon) initialize(ctx context.Context, clientName string, folders []string) error {
	if clientName == "" {
		clientName = "mcp"
	}
	p := wire.InitializeParams{ClientInfo: &wire.ClientInfo{Name: clientName}, WorkspaceFolders: workspaceFolders(folders)}
	p.Options.Session = d.name
	p.Options.Umask = &d.opt.Umask
	p.Options.Delivery = wire.DeliverInline
	p.Options.Stale = wire.StaleAttach
	_, err := d.client.Initialize(ctx, p)
	return err
}

// move tells an open session its folders. The daemon takes them up before any
// request that is sent later.
func (d *daemon) move(folders []string) error {
	if slices.Equal(folders, d.folders) {
		return nil
	}
	var change struct {
		Event struct {
			Added   []wire.WorkspaceFolder `json:"added"`
			Removed []wire.WorkspaceFolder `json:"removed"`
		} `json:"event"`
	}
	// All leave and all come, as paths are relative to the first one.
	change.Event.Added, change.Event.Removed = workspaceFolders(folders), workspaceFolders(d.folders)
	d.folders = folders
	return d.client.Notify("workspace/didChangeWorkspaceFolders", change)
}

func workspaceFolders(paths []string) []wire.WorkspaceFolder {
	out := make([]wire.WorkspaceFolder, 0, len(paths))
	for _, p := range paths {
		out = append(out, wire.WorkspaceFolder{URI: fileURI(p), Name: filepath.Base(p)})
	}
	return out
}

// call asks the daemon. A daemon that is about to end is given up for the next
// one; a call whose connection was lost is made again if it is safe to make
// twice.
func (d *daemon) call(ctx context.Context, clientName string, folders []string, method string, params any, again bool) ([]byte, error) {
	for attempt := 0; ; attempt++ {
		c, err := d.open(ctx, clientName, folders)
		if err != nil {
			return nil, err
		}
		result, err := c.CallRaw(ctx, method, params)
		lost := errors.Is(err, client.ErrConnectionLost) || errors.Is(err, &wire.Error{Code: wire.SessionTaken})
		switch {
		case err == nil:
			return result, nil
		case attempt == 0 && (lost && again || errors.Is(err, &wire.Error{Code: wire.ShuttingDown})):
			c.Close()
		case lost && !again:
			return nil, fmt.Errorf("%w; whether this call was carried out is not known: read the lines before you try again", err)
		default:
			return nil, err
		}
	}
}

// status asks how far the daemon is, if a session is open.
func (d *daemon) status(ctx context.Context) (*wire.StatusResult, []string) {
	if d.take(ctx) != nil {
		return nil, nil
	}
	c, ready, folders := d.client, d.ready, d.folders
	d.give()
	if !ready {
		return nil, nil
	}
	status, err := c.Status(ctx)
	if err != nil {
		return nil, nil
	}
	return status, folders
}

// close ends the session. A ledger that nobody can ask for again is dropped
// rather than kept for a day.
func (d *daemon) close() {
	<-d.turn
	defer d.give()
	if d.ready && !d.named && d.name != "" {
		ctx, cancel := context.WithTimeout(context.Background(), forgetTime)
		defer cancel()
		if err := d.client.Forget(ctx, wire.LedgerParams{}); err != nil {
			d.opt.Log.Debug("the ledger stays", "err", err)
		}
	}
	d.drop()
}
