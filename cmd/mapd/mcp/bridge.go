//lint:file-ignore SA1019 MCP is about to drop roots; the clients that have them will be there for years.

package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mapd/rpc/client"
	"mapd/rpc/wire"
)

// The choices of Options.Structured.
const (
	StructuredAuto   = "auto"   // unless the client shows its model structured content in place of the text
	StructuredAlways = "always" // beside every text
	StructuredNever  = "never"
)

// DrainTime is how long calls under way may take after the end of stdin.
const DrainTime = 5 * time.Second

// Options are what Run needs to know. Daemon must not be zero in Socket or
// Getenv unless the process' own environment is meant.
type Options struct {
	// Daemon says how to reach the daemon. Start and Notify are set by Run.
	Daemon client.Options
	// Version is the version that the client is told.
	Version string
	// Dir is the working directory, the folder of clients without roots.
	Dir string
	// Session names a ledger that outlives this process; "" is one of its own.
	Session string
	// Umask is for files that the daemon makes for this client.
	Umask int
	// Structured is one of the Structured constants; "" is StructuredAuto.
	Structured string
	// Log gets what goes wrong beside the answers; nil is nowhere.
	Log *slog.Logger
}

// instructions tell a model in a few words what the tools have in common.
const instructions = "Lines are shown as LINE#HASH:content. Edit by the anchors LINE#HASH you were shown; never type them from memory. " +
	"Large files come with a map: read what you need by symbol or ranges. " +
	"A rejected edit wrote nothing and shows the lines as they are now, with anchors for the next try."

// Run serves one MCP client until its end of stdio, or until ctx ends. It waits
// until nothing of the session is left.
func Run(ctx context.Context, stdio io.ReadWriteCloser, opt Options) error {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	switch opt.Structured {
	case "":
		opt.Structured = StructuredAuto
	case StructuredAuto, StructuredAlways, StructuredNever:
	default:
		return fmt.Errorf("structured is %q; it is auto, always or never", opt.Structured)
	}
	ctx, cancel := context.WithCancel(ctx)
	b := &bridge{opt: opt, daemon: newDaemon(opt), roots: newRoots(opt.Dir), bodies: newBodies()}
	defer func() {
		cancel()
		b.background.Wait()
		b.daemon.close()
	}()
	b.background.Go(func() { b.daemon.warm(ctx) })

	server := sdk.NewServer(&sdk.Implementation{Name: "mapd", Version: opt.Version}, &sdk.ServerOptions{
		Instructions: instructions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		InitializedHandler: func(_ context.Context, r *sdk.InitializedRequest) {
			b.background.Go(func() { b.prepare(ctx, r.Session) })
		},
		RootsListChangedHandler: func(_ context.Context, r *sdk.RootsListChangedRequest) {
			b.roots.invalidate()
			b.background.Go(func() { b.prepare(ctx, r.Session) })
		},
	})
	for _, t := range tools {
		server.AddTool(t.declaration(), b.handler(t))
	}
	session, err := server.Connect(ctx, newTransport(stdio, b.bodies), nil)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { stdio.Close() })
	defer stop()
	err = session.Wait()
	if ctx.Err() != nil || hungUp(err) {
		return nil
	}
	return err
}

// hungUp reports whether err is how a client ends that is done.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE)
}

// bridge is one MCP session.
type bridge struct {
	opt        Options
	daemon     *daemon
	roots      *roots
	bodies     *bodies
	background sync.WaitGroup
}

// prepare opens the session of the daemon before the first call asks for it, so
// that its folders are warm by then.
func (b *bridge) prepare(ctx context.Context, session *sdk.ServerSession) {
	folders, err := b.roots.ask(ctx, session)
	if err == nil {
		_, err = b.daemon.open(ctx, clientName(session), folders)
	}
	if err != nil && ctx.Err() == nil {
		b.opt.Log.Warn("not ready for the first call", "err", err)
	}
}

// handler answers the calls of one tool.
func (b *bridge) handler(t tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		folders, wanted, err := b.roots.of(ctx, req)
		if wanted != nil {
			return &sdk.CallToolResult{InputRequests: wanted, RequestState: rootsInput}, nil
		}
		if err != nil {
			return nil, err
		}
		end := b.progress(ctx, req, t.name)
		raw, err := b.ask(ctx, t, req, folders)
		end(err == nil)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx) // nobody reads it
		}
		return b.result(ctx, t, req, raw, err), nil
	}
}

func (b *bridge) ask(ctx context.Context, t tool, req *sdk.CallToolRequest, folders []string) ([]byte, error) {
	params, err := t.params(req.Params.Arguments)
	if err != nil {
		return nil, wire.Errorf(wire.InvalidParams, "%s: %v", t.name, err)
	}
	return b.daemon.call(ctx, clientName(req.Session), folders, t.method, params, t.readOnly)
}

// result is what the client gets: text for the model, and the object of the
// wire beside it.
func (b *bridge) result(ctx context.Context, t tool, req *sdk.CallToolRequest, raw []byte, failure error) *sdk.CallToolResult {
	var blocks, structured []byte
	if failure == nil {
		blocks, failure = t.blocks(raw)
		structured = raw
	}
	if failure != nil {
		blocks = textBlocks(failure.Error())
		structured = nil
		if wired := (*wire.Error)(nil); errors.As(failure, &wired) {
			structured = encodeError(wired)
		}
	}
	if !b.structures(req.Session) {
		structured = nil
	}
	return b.bodies.hold(ctx, blocks, structured, failure != nil)
}

// textless are clients that give their model the structured content of a result
// and not its text, by the name they give themselves. Their model would read
// JSON with every line of a file escaped, so they get the text alone.
var textless = map[string]bool{
	"claude-code":      true,
	"codex-mcp-client": true,
}

func (b *bridge) structures(session *sdk.ServerSession) bool {
	if b.opt.Structured == StructuredAuto {
		return !textless[clientName(session)]
	}
	return b.opt.Structured == StructuredAlways
}

// clientName is the name that the client gave itself, or "".
func clientName(session *sdk.ServerSession) string {
	p := session.InitializeParams()
	if p == nil || p.ClientInfo == nil {
		return ""
	}
	return p.ClientInfo.Name
}
