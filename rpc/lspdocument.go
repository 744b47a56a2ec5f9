package rpc

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"net/url"
	"strconv"

	"mapd/hashline"
	"mapd/outline"
	"mapd/rpc/buffers"
	"mapd/rpc/conn"
	"mapd/rpc/wire"
	"mapd/workspace"
)

// document is what textDocument/* sees of a document: the text that the editor
// has open, else that of the file.
type document struct {
	uri      string
	text     *hashline.Text
	outlined outlined
	locator  *locator
	file     *workspace.Version // nil for a text that the editor has open
}

// documentParams are what of the params of a request about a document is used.
type documentParams struct {
	TextDocument documentID `json:"textDocument"`
}

// aboutDocument makes a method of a request about a document. It sees the
// documents that were open when the request came, whatever the editor sends while
// it waits for its turn.
func aboutDocument[P, R any](f func(*Session, context.Context, *buffers.Set, P) (R, error)) method {
	return method{pin: func(s *Session) func(context.Context, []byte) (conn.Reply, error) {
		docs := s.documents.Load()
		return func(ctx context.Context, params []byte) (conn.Reply, error) {
			var decoded P
			if err := decodeLSP("params", params, &decoded); err != nil {
				return conn.Reply{}, err
			}
			done, err := s.documentTurn(ctx, docs)
			if err != nil {
				return conn.Reply{}, err
			}
			defer done()
			result, err := f(s, ctx, docs, decoded)
			if err != nil {
				return conn.Reply{}, err
			}
			encoded, err := encode(result)
			return conn.Reply{Result: encoded}, err
		}
	}}
}

// documentsAtOnce is how many requests about documents run for one session at a
// time, if it has large ones open: each takes a copy of its text, and many may wait
// for an outline.
const documentsAtOnce = 2

// documentTurn waits until a request about a document may run. done ends its turn.
func (s *Session) documentTurn(ctx context.Context, docs *buffers.Set) (done func(), err error) {
	if docs.Bytes() <= smallReplies {
		return func() {}, nil
	}
	select {
	case s.documenting <- struct{}{}:
		return func() { <-s.documenting }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// document returns the document that a request is about.
func (s *Session) document(ctx context.Context, docs *buffers.Set, uri string) (*document, error) {
	key, err := documentKey(uri)
	if err != nil {
		return nil, err
	}
	if held := s.held(docs, key); held != nil {
		return s.heldDocument(held, uri)
	}
	if !docs.Complete() {
		return nil, wire.Errorf(wire.ServerBusy, "more than %d documents are open, and what this one holds is not known; close some, and open it again", s.server.opt.Limits.Documents.Documents)
	}
	if !isPath(key) {
		return nil, wire.Errorf(wire.NotFound, "%.200q is not open in this session, and names no file of this machine", uri)
	}
	v, err := s.open(ctx, key)
	if err != nil {
		return nil, err
	}
	if v.Binary() {
		return nil, binaryDocument(quotePath(v.Name()), v.MIME())
	}
	return &document{uri: uri, text: v.Text(), outlined: v, file: v, locator: newLocator(v.Text(), s.encoding, false)}, nil
}

func binaryDocument(name, mime string) error {
	return wire.Errorf(wire.BinaryFile, "%s is binary (%s), not text", name, mime).With("mimeType", mime)
}

// heldDocument returns what the editor holds of a document.
func (s *Session) heldDocument(d *buffers.Document, uri string) (*document, error) {
	text, err := d.Text()
	switch {
	case errors.Is(err, buffers.ErrFull):
		return nil, wire.Errorf(wire.FileTooLarge, "the text of %.200q is not known: %v; close other documents and open it again", uri, err)
	case err != nil:
		return nil, wire.Errorf(wire.UnknownSnapshot, "the text of %.200q is not known: %v; send all of it, or close it and open it again", uri, err)
	}
	b := text.Bytes()
	draft := s.server.cache.Draft(b, languageOf(d, b))
	if draft.Text() == nil {
		return nil, binaryDocument(strconv.Quote(uri[:min(len(uri), 200)]), draft.MIME())
	}
	return &document{uri: uri, text: draft.Text(), outlined: draft, locator: newLocator(draft.Text(), s.encoding, true)}, nil
}

// languageOf returns the language of a document that is open: as its name says,
// else as the editor does.
func languageOf(d *buffers.Document, b []byte) outline.Language {
	name := d.Key
	if u, err := url.Parse(d.URI); err == nil && !isPath(name) {
		name = u.Path + u.Opaque
	}
	lang := outline.Detect(name, b)
	if lang == outline.Text || lang == outline.Unknown {
		if told, ok := outline.ParseLanguage(d.LanguageID); ok {
			return told
		}
	}
	return lang
}

// held returns the document of a key if the editor has it open, under this name or
// under another one of the same file.
func (s *Session) held(docs *buffers.Set, key string) *buffers.Document {
	if docs.Len() == 0 {
		return nil
	}
	if d, found := docs.Get(key); found {
		return d
	}
	if !isPath(key) {
		return nil
	}
	real, err := s.server.cache.Resolve(key)
	if err != nil {
		return nil
	}
	for d := range s.heldAt(docs, real) {
		return d
	}
	return nil
}

// heldAt yields the documents that are open and whose names lead to a real path
// at this moment.
func (s *Session) heldAt(docs *buffers.Set, real string) iter.Seq[*buffers.Document] {
	return func(yield func(*buffers.Document) bool) {
		for _, d := range docs.All() {
			if !isPath(d.Key) {
				continue
			}
			if at, err := s.server.cache.Resolve(d.Key); (err == nil && at == real || d.Key == real) && !yield(d) {
				return
			}
		}
	}
}

// notDirty refuses an edit of a file that the editor of this session holds with
// text that is not in the file: the edit would part the two. live is the file as
// it is now, nil if there is none at path.
//
// A document that was as the file is when an edit of this session was made, and
// was not changed since, holds nothing that is not in the file or was not replaced
// by that edit: it is out of date and not dirty.
func (s *Session) notDirty(path string, live *workspace.Version) error {
	docs := s.documents.Load()
	if docs.Len() == 0 && docs.Complete() {
		return nil
	}
	var content []byte
	name := quotePath(wireText(path))
	if live != nil {
		path, content, name = live.Path(), live.Bytes(), quotePath(wireText(live.Name()))
	}
	if !docs.Complete() {
		return wire.Errorf(wire.BufferDirty, "more documents are open in this session than it may have, and whether %s is one of them is not known; close some", name)
	}
	if roots := s.folders.Load().Roots(); !isPath(path) && len(roots) > 0 {
		path = roots[0] + "/" + path
	}
	real, err := s.server.cache.Resolve(path)
	if err != nil {
		real = path
	}
	for d := range s.heldAt(docs, real) {
		text, err := d.Text()
		switch {
		case err != nil:
			return wire.Errorf(wire.BufferDirty, "%s is open in the editor, and its text there is not known: %v; open it again, or close it", name, err)
		case sameText(text, content):
			text.MarkStored()
		case !text.Stored():
			return wire.Errorf(wire.BufferDirty, "%s has changes in the editor that are not in the file; save or drop them first", name)
		}
	}
	return nil
}

// sameText reports whether the text of an editor is what a file holds. Editors
// keep a byte order mark to themselves.
func sameText(text *buffers.Text, content []byte) bool {
	return text.Equal(content) || !text.HasBOM() && text.Equal(bytes.TrimPrefix(content, []byte(hashline.BOM)))
}
