package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"mapd/outline"
	"mapd/rpc"
	"mapd/rpc/client"
	"mapd/rpc/wire"
	"mapd/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait: only what never comes fails.
const patience = 60 * time.Second

// house is a daemon of this process on a socket of its own, with a folder.
type house struct {
	t      testing.TB
	dir    string // the folder, resolved
	socket string
	stop   func()
}

func newHouse(t testing.TB) *house {
	t.Helper()
	base, err := os.MkdirTemp("", "mapd")
	if err != nil {
		t.Fatal(err)
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, dir: filepath.Join(base, "project"), socket: filepath.Join(base, "run", "s")}
	for _, dir := range []string{h.dir, filepath.Dir(h.socket)} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		h.stop()
		os.RemoveAll(base)
	})
	h.start()
	return h
}

// start starts a daemon on the socket, which knows nothing of one before it.
func (h *house) start() {
	h.t.Helper()
	limits := rpc.DefaultLimits()
	cache := workspace.NewCache(workspace.Options{Limits: limits.Workspace, Outlines: outline.New(outline.Options{Limits: limits.Outline})})
	server := rpc.NewServer(rpc.Options{Limits: limits, Cache: cache, Version: "test", Build: "test"})
	l, err := net.Listen("unix", h.socket)
	if err != nil {
		h.t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(context.Background(), func() (io.ReadWriteCloser, rpc.Peer, error) {
			c, err := l.Accept()
			return c, rpc.Peer{PID: os.Getpid()}, err
		}, func() { l.Close() })
	}()
	h.stop = func() {
		server.Stop()
		if err := errors.Join(<-served, cache.Close()); err != nil && !errors.Is(err, net.ErrClosed) {
			h.t.Error(err)
		}
		h.stop = func() {}
	}
}

func (h *house) write(name, content string) string {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		h.t.Fatal(err)
	}
	return path
}

func (h *house) content(name string) string {
	h.t.Helper()
	b, err := os.ReadFile(filepath.Join(h.dir, name))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(b)
}

func (h *house) options() Options {
	return Options{Daemon: client.Options{Socket: h.socket, AnyBuild: true}, Version: "test", Dir: h.dir, Umask: 0o022}
}

// direct opens a session beside the bridge.
func (h *house) direct(name string) *client.Client {
	h.t.Helper()
	c, err := client.Dial(h.t.Context(), client.Options{Socket: h.socket, AnyBuild: true})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { c.Close() })
	p := wire.InitializeParams{WorkspaceFolders: []wire.WorkspaceFolder{{URI: fileURI(h.dir), Name: "project"}}}
	p.Options.Session = name
	if _, err := c.Initialize(h.t.Context(), p); err != nil {
		h.t.Fatal(err)
	}
	return c
}

// stdio are the two ends of a bridge's stdin and stdout.
func stdio() (bridge io.ReadWriteCloser, in *io.PipeWriter, out *io.PipeReader) {
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	return pipes{inRead, outWrite}, inWrite, outRead
}

type pipes struct {
	*io.PipeReader
	out *io.PipeWriter
}

func (p pipes) Write(b []byte) (int, error) { return p.out.Write(b) }
func (p pipes) Close() error                { return errors.Join(p.PipeReader.Close(), p.out.Close()) }

// rawBridge runs a bridge on two pipes of the system. through sends a line and
// returns the answer.
func rawBridge(b testing.TB, opt Options) (through func(string) []byte, end func()) {
	b.Helper()
	theirIn, in, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- Run(context.Background(), files{theirIn, theirOut}, opt) }()
	answers := bufio.NewReaderSize(out, 1<<20)
	through = func(line string) []byte {
		if _, err := io.WriteString(in, line); err != nil {
			b.Fatal(err)
		}
		answer, err := answers.ReadSlice('\n')
		if err != nil || !strings.Contains(string(answer[:min(len(answer), 60)]), `"result"`) {
			b.Fatalf("%v %.200q", err, answer)
		}
		return answer
	}
	return through, func() {
		in.Close()
		if err := errors.Join(<-ended, out.Close()); err != nil {
			b.Error(err)
		}
	}
}

type files struct{ in, out *os.File }

func (f files) Read(b []byte) (int, error)  { return f.in.Read(b) }
func (f files) Write(b []byte) (int, error) { return f.out.Write(b) }
func (f files) Close() error                { return errors.Join(f.in.Close(), f.out.Close()) }

// agent is the SDK's client at a bridge.
type agent struct {
	t       testing.TB
	session *sdk.ClientSession
}

// attach runs a bridge with a client on it. change may be nil.
func attach(t testing.TB, opt Options, c *sdk.Client, protocol string) *agent {
	t.Helper()
	if c == nil {
		c = sdk.NewClient(&sdk.Implementation{Name: "test"}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}})
	}
	ours, in, out := stdio()
	ended := make(chan error, 1)
	go func() { ended <- Run(context.Background(), ours, opt) }()
	session, err := c.Connect(t.Context(), &sdk.IOTransport{Reader: out, Writer: in, MaxLineLength: -1}, &sdk.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		if err := <-ended; err != nil {
			t.Errorf("the bridge ended with %v", err)
		}
	})
	return &agent{t, session}
}

func (a *agent) call(tool string, arguments any) *sdk.CallToolResult {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	result, err := a.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		a.t.Fatalf("%s: %v", tool, err)
	}
	return result
}

// object is a JSON object, for arguments.
type object = map[string]any

// texts are the text blocks of a result.
func texts(r *sdk.CallToolResult) []string {
	var out []string
	for _, c := range r.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			out = append(out, text.Text)
		}
	}
	return out
}

func text(r *sdk.CallToolResult) string { return strings.Join(texts(r), "\n\n") }

// anchor finds the anchor of a shown line.
func anchor(t testing.TB, shown, content string) string {
	t.Helper()
	for line := range strings.Lines(shown) {
		if a, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":"); rest == content {
			return a
		}
	}
	t.Fatalf("%q is not shown in\n%s", content, shown)
	return ""
}

// decode reads structured content into the type of the wire.
func decode[T any](t testing.TB, r *sdk.CallToolResult) T {
	t.Helper()
	var out T
	encoded, err := json.Marshal(r.StructuredContent)
	if err == nil {
		err = json.Unmarshal(encoded, &out)
	}
	if err != nil || r.StructuredContent == nil {
		t.Fatalf("structured content %s: %v", encoded, err)
	}
	return out
}

// script is a daemon that says what a test tells it to say.
type script struct {
	t      testing.TB
	listen net.Listener
	// answer gets each request but initialize; it replies itself, or closes.
	answer func(c *scripted, id json.RawMessage, method string, params json.RawMessage)
	done   chan struct{}
}

// scripted is one connection of a script.
type scripted struct {
	net.Conn
	number int
}

func (c *scripted) reply(id json.RawMessage, result string) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
	fmt.Fprintf(c, "Content-Length: %d\r\n\r\n%s", len(body), body)
}

// newScript listens where a house would.
func newScript(t testing.TB, answer func(c *scripted, id json.RawMessage, method string, params json.RawMessage)) Options {
	t.Helper()
	dir, err := os.MkdirTemp("", "mapd")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{t: t, listen: l, answer: answer, done: make(chan struct{})}
	go s.run()
	t.Cleanup(func() {
		l.Close()
		<-s.done
		os.RemoveAll(dir)
	})
	return Options{Daemon: client.Options{Socket: socket, AnyBuild: true}, Dir: dir}
}

func (s *script) run() {
	defer close(s.done)
	for n := 1; ; n++ {
		c, err := s.listen.Accept()
		if err != nil {
			return
		}
		s.serve(&scripted{c, n})
	}
}

// serve serves one connection until it ends; a bridge has one at a time.
func (s *script) serve(c *scripted) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		var length int
		if _, err := fmt.Fscanf(in, "Content-Length: %d\r\n\r\n", &length); err != nil {
			return
		}
		frame := make([]byte, length)
		if _, err := io.ReadFull(in, frame); err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if err := json.Unmarshal(frame, &m); err != nil {
			s.t.Error(err)
			return
		}
		if m.Method == "initialize" {
			c.reply(m.ID, `{"serverInfo":{},"capabilities":{"experimental":{"mapd":{}}}}`)
			continue
		}
		s.answer(c, m.ID, m.Method, m.Params)
	}
}
