//lint:file-ignore SA1019 MCP is about to drop roots; the clients that have them will be there for years.

package mcp

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// rootsTime bounds how long a client may take to say its roots. One that takes
// longer has none.
const rootsTime = 5 * time.Second

// inputProtocol is the first version of MCP in which a server may not ask its
// client for the roots, but has to answer a call with the wish to know them.
const inputProtocol = "2026-07-28"

// rootsInput names that wish in the answer and in the call that follows it, and
// is the state that the call brings back.
const rootsInput = "roots"

// roots knows the folders of the session: the roots of the client, else the
// nearest folder above the working directory that holds .git, else that
// directory itself.
type roots struct {
	dir  string
	turn chan struct{} // holds one element while nobody asks

	mu      sync.Mutex // guards what follows
	folders []string   // nil while unknown; absolute paths
	changes int        // how often the client said that its roots have changed
}

func newRoots(dir string) *roots {
	r := &roots{dir: dir, turn: make(chan struct{}, 1)}
	r.turn <- struct{}{}
	return r
}

// invalidate makes the next call ask again.
func (r *roots) invalidate() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.folders = nil
	r.changes++
}

func (r *roots) known() (folders []string, changes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.folders, r.changes
}

// learn takes what was found out, unless the roots have changed since.
func (r *roots) learn(folders []string, changes int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if changes == r.changes {
		r.folders = folders
	}
	return folders
}

// of returns the folders for a call. If wanted is not nil, the client has to be
// told to call again with that input.
func (r *roots) of(ctx context.Context, req *sdk.CallToolRequest) (folders []string, wanted sdk.InputRequestMap, err error) {
	folders, changes := r.known()
	if folders != nil {
		return folders, nil, nil
	}
	p := req.Session.InitializeParams()
	if p == nil || p.ProtocolVersion < inputProtocol || !offersRoots(p) {
		folders, err = r.ask(ctx, req.Session)
		return folders, nil, err
	}
	answer, ok := req.Params.InputResponses[rootsInput].(*sdk.ListRootsResult)
	if ok {
		return r.learn(r.usable(answer.Roots), changes), nil, nil
	}
	if req.Params.RequestState == rootsInput { // it was asked, and does not say
		return r.learn(r.usable(nil), changes), nil, nil
	}
	return nil, sdk.InputRequestMap{rootsInput: &sdk.ListRootsParams{}}, nil
}

// ask finds the folders of a client that may be asked.
func (r *roots) ask(ctx context.Context, session *sdk.ServerSession) ([]string, error) {
	select {
	case <-r.turn:
		defer func() { r.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	folders, changes := r.known()
	if folders != nil {
		return folders, nil
	}
	var offered []*sdk.Root
	if p := session.InitializeParams(); p != nil && p.ProtocolVersion < inputProtocol && offersRoots(p) {
		asking, cancel := context.WithTimeout(ctx, rootsTime)
		defer cancel()
		answer, err := session.ListRoots(asking, nil)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil {
			offered = answer.Roots
		}
	}
	return r.learn(r.usable(offered), changes), nil
}

func offersRoots(p *sdk.InitializeParams) bool {
	return p.Capabilities != nil && p.Capabilities.RootsV2 != nil
}

// usable returns the directories among what a client offers, each once and in
// its order, or the folder of the working directory if there is none.
func (r *roots) usable(offered []*sdk.Root) []string {
	var out []string
	for _, root := range offered {
		if root == nil {
			continue
		}
		if path, ok := filePath(root.URI); ok && isDir(path) && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	if len(out) == 0 {
		out = append(out, enclosing(r.dir))
	}
	return out
}

// enclosing returns the nearest folder from dir upwards that holds .git, or dir.
func enclosing(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}

func filePath(uri string) (path string, ok bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(u.Path) {
		return "", false
	}
	return filepath.Clean(u.Path), true
}

func fileURI(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
