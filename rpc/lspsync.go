package rpc

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mapd/rpc/buffers"
	"mapd/rpc/conn"
	"mapd/rpc/wire"
)

// synced makes a method of a notification about a document that the editor has
// open. It runs on the read loop, so that documents change in the order of the
// wire. Its error is logged and nothing more: what the error means for the text of
// the document is in the Set.
func synced(change func(*Session, *buffers.Set, []byte) (*buffers.Set, error)) method {
	return method{notification: true, serial: true, serve: func(_ context.Context, p *peer, params []byte) (conn.Reply, error) {
		session, _ := p.attached()
		next, err := change(session, session.documents.Load(), params)
		session.documents.Store(next)
		return conn.Reply{}, err
	}}
}

// documentID is LSP's identifier of a document, with a version in some places.
type documentID struct {
	URI     string `json:"uri"`
	Version *int64 `json:"version"`
}

// documentKey returns what identifies a document among those that are open: the
// path that a file URI names, else the URI as it is, which is no absolute path.
func documentKey(uri string) (string, error) {
	switch {
	case uri == "":
		return "", wire.Errorf(wire.InvalidParams, "textDocument.uri is missing")
	case strings.HasPrefix(uri, "/"):
		return "", wire.Errorf(wire.InvalidParams, "%.200q is no URI; use file:///…", uri)
	}
	if path, err := uriPath(uri); err == nil {
		return path, nil
	}
	return uri, nil
}

// isPath reports whether a key is the path of a file.
func isPath(key string) bool { return strings.HasPrefix(key, "/") }

// namedDocument returns the key of the document that the params of a notification
// are about, also when all else about them is wrong.
func namedDocument(params []byte) (uri, key string, err error) {
	var p struct {
		TextDocument struct {
			URI string `json:"uri"`
		} `json:"textDocument"`
	}
	_ = json.Unmarshal(params, &p, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	key, err = documentKey(p.TextDocument.URI)
	return p.TextDocument.URI, key, err
}

// didOpen takes the text of a document.
func didOpen(_ *Session, docs *buffers.Set, params []byte) (*buffers.Set, error) {
	var p struct {
		TextDocument struct {
			URI        string  `json:"uri"`
			LanguageID string  `json:"languageId"`
			Version    int64   `json:"version"`
			Text       *string `json:"text"`
		} `json:"textDocument"`
	}
	wrong := decodeLSP("didOpen", params, &p)
	if wrong == nil && p.TextDocument.Text == nil {
		wrong = errors.New("it came without a text")
	}
	uri, key, err := namedDocument(params)
	if err != nil {
		return docs, err
	}
	d := buffers.Document{Key: key, URI: uri, LanguageID: p.TextDocument.LanguageID, Version: p.TextDocument.Version}
	if wrong != nil {
		return docs.OpenUnknown(d, wrong)
	}
	return docs.Open(d, *p.TextDocument.Text)
}

// didChange applies changes to a document, in full or of ranges.
func didChange(s *Session, docs *buffers.Set, params []byte) (*buffers.Set, error) {
	_, key, err := namedDocument(params)
	if err != nil {
		return docs, err
	}
	version, changes, err := decodeChanges(params)
	if err != nil {
		return docs.Lose(key, err)
	}
	return docs.Change(key, version, changes, s.encoding)
}

// positionParams and rangeParams are LSP's Position and Range. A member that is
// missing is a mistake and no zero.
type (
	positionParams struct {
		Line      *uint64 `json:"line"`
		Character *uint64 `json:"character"`
	}
	rangeParams struct {
		Start positionParams `json:"start"`
		End   positionParams `json:"end"`
	}
)

func (p positionParams) position() (buffers.Position, error) {
	if p.Line == nil || p.Character == nil {
		return buffers.Position{}, wire.Errorf(wire.InvalidParams, "a position needs line and character")
	}
	return buffers.Position{Line: *p.Line, Character: *p.Character}, nil
}

// decodeChanges returns the version and the changes of a didChange.
func decodeChanges(params []byte) (int64, []buffers.Change, error) {
	var p struct {
		TextDocument   documentID `json:"textDocument"`
		ContentChanges []struct {
			Range *rangeParams `json:"range"`
			Text  *string      `json:"text"`
		} `json:"contentChanges"`
	}
	if err := decodeLSP("didChange", params, &p); err != nil {
		return 0, nil, err
	}
	if p.TextDocument.Version == nil {
		return 0, nil, errors.New("the change has no version")
	}
	changes := make([]buffers.Change, len(p.ContentChanges))
	for i, c := range p.ContentChanges {
		if c.Text == nil {
			return 0, nil, fmt.Errorf("change %d has no text", i+1)
		}
		changes[i].Text = *c.Text
		if c.Range == nil {
			continue
		}
		start, err1 := c.Range.Start.position()
		end, err2 := c.Range.End.position()
		if err := errors.Join(err1, err2); err != nil {
			return 0, nil, fmt.Errorf("change %d: %w", i+1, err)
		}
		changes[i].Range = &buffers.Range{Start: start, End: end}
	}
	return *p.TextDocument.Version, changes, nil
}

// didSave takes the text that was saved, if the editor sends it.
func didSave(_ *Session, docs *buffers.Set, params []byte) (*buffers.Set, error) {
	_, key, err := namedDocument(params)
	if err != nil {
		return docs, err
	}
	var p struct {
		Text *string `json:"text"`
	}
	if err := decodeLSP("didSave", params, &p); err != nil {
		return docs.Lose(key, err)
	}
	if p.Text == nil {
		return docs, nil
	}
	return docs.Save(key, *p.Text)
}

// didClose forgets a document: from now on its file is what counts.
func didClose(_ *Session, docs *buffers.Set, params []byte) (*buffers.Set, error) {
	_, key, err := namedDocument(params)
	if err != nil {
		return docs, err
	}
	return docs.Close(key)
}
