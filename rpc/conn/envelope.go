package conn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// kind tells what a frame, or an element of a batch, is.
type kind uint8

const (
	kindInvalid kind = iota // JSON, but no JSON-RPC 2.0 message
	kindCall
	kindNotification
	kindResponse
)

// idKey identifies a request id: 1 and "1" differ. The zero value is no id.
type idKey struct {
	kind   byte // 'n', 's' or 0
	number int64
	text   string
}

// envelope is one message, its params still encoded. rawID, quoted and params
// borrow the frame.
type envelope struct {
	kind    kind
	id      idKey
	rawID   []byte // as sent, nil unless it is a valid id
	method  string
	quoted  []byte // method as sent
	params  []byte // nil if absent or null
	problem string // why kind is kindInvalid
	failed  bool   // a response is an error
}

// frame is one scanned frame: either one message or the elements of a batch.
type frame struct {
	single   envelope
	batch    bool
	elements []envelope // at most Limits.Batch; the rest is only counted
	count    int        // elements of the batch
}

// parser turns frames into envelopes. It is used by the read loop only.
type parser struct {
	scanner scanner
	limits  Limits
}

// parse scans one frame. An error means that it is no JSON that can be served.
func (p *parser) parse(data []byte) (frame, error) {
	s := &p.scanner
	s.max = p.limits.Depth
	s.reset(data)
	var f frame
	var err error
	if s.space() == '[' {
		f, err = p.batch()
	} else {
		f.single, err = p.message()
	}
	if err == nil {
		err = s.end()
	}
	if err == errDepth {
		err = fmt.Errorf("%w: the limit is %d", errDepth, s.max)
	}
	return f, err
}

func (p *parser) batch() (frame, error) {
	f := frame{batch: true}
	s := &p.scanner
	if err := s.open('['); err != nil {
		return f, err
	}
	if s.accept(']') {
		return f, nil
	}
	for {
		e, err := p.message()
		if err != nil {
			return f, err
		}
		if f.count++; f.count <= p.limits.Batch {
			f.elements = append(f.elements, e)
		}
		if s.accept(']') {
			s.depth--
			return f, nil
		}
		if !s.accept(',') {
			return f, errSyntax
		}
	}
}

// members are the raw values of the members JSON-RPC defines, nil if absent.
type members struct {
	version, id, method, params, result, failure []byte
	duplicate                                    string
}

// slot returns where the member called name (quoted) is kept, nil for a member
// that JSON-RPC does not know.
func (m *members) slot(name []byte) *[]byte {
	switch string(name) {
	case `"jsonrpc"`:
		return &m.version
	case `"id"`:
		return &m.id
	case `"method"`:
		return &m.method
	case `"params"`:
		return &m.params
	case `"result"`:
		return &m.result
	case `"error"`:
		return &m.failure
	}
	return nil
}

// message consumes one value that should be a message.
func (p *parser) message() (envelope, error) {
	s := &p.scanner
	if s.space() != '{' {
		_, err := s.value()
		return invalid("a message is an object"), err
	}
	if err := s.open('{'); err != nil {
		return envelope{}, err
	}
	var m members
	if !s.accept('}') {
		for {
			if err := p.member(&m); err != nil {
				return envelope{}, err
			}
			if s.accept('}') {
				break
			}
			if !s.accept(',') {
				return envelope{}, errSyntax
			}
		}
	}
	s.depth--
	return p.classify(&m), nil
}

func (p *parser) member(m *members) error {
	name, err := p.scanner.key()
	if err != nil {
		return err
	}
	value, err := p.scanner.value()
	if err != nil {
		return err
	}
	if bytes.IndexByte(name, '\\') >= 0 {
		name = strconv.AppendQuote(nil, unquote(name))
	}
	if slot := m.slot(name); slot != nil {
		if *slot != nil {
			m.duplicate = string(name)
		}
		*slot = value
	}
	return nil
}

// unquote returns the value of a string that was scanned.
func unquote(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		panic(fmt.Sprintf("conn: a scanned string is none: %v", err))
	}
	return text
}

func invalid(problem string) envelope { return envelope{kind: kindInvalid, problem: problem} }

// classify decides what a syntactically right object is.
func (p *parser) classify(m *members) envelope {
	e := envelope{}
	var problem string
	if m.id != nil {
		if e.id, problem = p.id(m.id); problem == "" {
			e.rawID = m.id
		}
	}
	fail := func(problem string) envelope {
		e.kind, e.problem = kindInvalid, problem
		return e
	}
	switch {
	case m.duplicate != "":
		e.rawID, e.id = nil, idKey{}
		return fail("the member " + m.duplicate + " occurs twice")
	case string(m.version) != `"2.0"`:
		return fail(`"jsonrpc" is not "2.0"`)
	case m.method == nil && (m.result != nil || m.failure != nil):
		e.kind, e.failed = kindResponse, m.failure != nil
		return e
	case problem != "":
		return fail(problem)
	case m.method == nil || m.method[0] != '"':
		return fail(`"method" is not a string`)
	case m.result != nil || m.failure != nil:
		return fail(`a request has neither "result" nor "error"`)
	case len(m.method)-2 > p.limits.Name:
		return fail(fmt.Sprintf(`"method" is longer than %d bytes`, p.limits.Name))
	}
	e.quoted, e.method = m.method, unquote(m.method)
	if m.params != nil && string(m.params) != "null" {
		if c := m.params[0]; c != '{' && c != '[' {
			return fail(`"params" is neither an object nor an array`)
		}
		e.params = m.params
	}
	e.kind = kindNotification
	if m.id != nil {
		e.kind = kindCall
	}
	return e
}

// id parses a request id; problem is not empty if it is none.
func (p *parser) id(raw []byte) (key idKey, problem string) {
	switch c := raw[0]; {
	case c == '"':
		if len(raw)-2 > p.limits.Name {
			return idKey{}, fmt.Sprintf(`"id" is longer than %d bytes`, p.limits.Name)
		}
		return idKey{kind: 's', text: unquote(raw)}, ""
	case c == '-' || '0' <= c && c <= '9':
		if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			return idKey{kind: 'n', number: n}, ""
		}
	}
	return idKey{}, `"id" is neither a string nor a 64-bit integer`
}
