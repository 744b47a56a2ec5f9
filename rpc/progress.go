package rpc

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"mapd/rpc/conn"
	"mapd/workspace"
)

// progressEvery is how often a client that shows progress is told how far the
// index of a root is.
const progressEvery = 200 * time.Millisecond

// initialized starts to report the progress of roots that are being indexed: no
// earlier may a client be asked for anything.
func initialized(_ context.Context, p *peer, _ []byte) (conn.Reply, error) {
	session, _ := p.attached()
	session.reportProgress()
	return conn.Reply{}, nil
}

// reportProgress reports the progress of each root of the session that is being
// indexed and not reported yet. Only the read loop calls it.
func (s *Session) reportProgress() {
	if !s.progress {
		return
	}
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	for path, held := range s.set.held {
		if s.reported[path] {
			continue
		}
		s.reported[path] = true
		if ws, err := held.state(); err == nil && (ws == nil || ws.Index().State() == workspace.Indexing) {
			s.reports++
			token := fmt.Sprintf("mapd-index-%d", s.reports)
			s.peer.background.Go(func() { s.report(s.peer.ctx, held.root, token) })
		}
	}
}

// progressValue is the value of LSP's $/progress.
type progressValue struct {
	Kind       string `json:"kind"` // "begin", "report" or "end"
	Title      string `json:"title,omitzero"`
	Message    string `json:"message,omitzero"`
	Percentage *int   `json:"percentage,omitzero"`
}

// report tells the client how far the index of a root is until it is done, or
// will never be, or the session has ended.
func (s *Session) report(ctx context.Context, r *root, token string) {
	ws, err := r.workspace(ctx)
	if err != nil {
		return // the status says why
	}
	c := s.peer.connection()
	create, err := encode(struct {
		Token string `json:"token"`
	}{token})
	if err != nil || c.Ask(ctx, "window/workDoneProgress/create", create) != nil {
		return
	}
	send := func(v progressValue) bool {
		params, err := encode(struct {
			Token string        `json:"token"`
			Value progressValue `json:"value"`
		}{token, v})
		return err == nil && c.Notify(conn.Notification{Method: "$/progress", Params: params}) == nil
	}
	none := 0
	if !send(progressValue{Kind: "begin", Title: "Indexing " + wireText(filepath.Base(r.path)), Percentage: &none}) {
		return
	}
	ticker := time.NewTicker(progressEvery)
	defer ticker.Stop()
	for {
		ix := ws.Index()
		files, left := len(ix.Files()), ix.Pending()
		message := fmt.Sprintf("%d of %d files", files-left, files)
		if ix.Generation > 0 && left == 0 {
			send(progressValue{Kind: "end", Message: message})
			return
		}
		percent := 100 * (files - left) / max(1, files)
		if !send(progressValue{Kind: "report", Message: message, Percentage: &percent}) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ws.Done():
			send(progressValue{Kind: "end"})
			return
		case <-ticker.C:
		}
	}
}
