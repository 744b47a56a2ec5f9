package rpc

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"mapd/rpc/wire"
)

// decodeStrict decodes the params of a mapd method: an unknown or repeated
// field is an error.
func decodeStrict(method string, params []byte, into any) error {
	return decode(method, params, into, json.RejectUnknownMembers(true))
}

// decodeEdit is decodeStrict for a method that writes.
func decodeEdit(method string, params []byte, into any) error {
	if err := decodeStrict(method, params, into); err != nil {
		return notWritten(err)
	}
	return nil
}

// decodeLSP decodes the params of an LSP method: unknown fields are ignored.
func decodeLSP(method string, params []byte, into any) error {
	return decode(method, params, into)
}

func decode(method string, params []byte, into any, opts ...json.Options) error {
	if len(params) == 0 || string(params) == "null" {
		params = []byte("{}")
	}
	if err := json.Unmarshal(params, into, opts...); err != nil {
		return wire.Errorf(wire.InvalidParams, "%s: %s", method, strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// decodeOne is decodeStrict into a new value.
func decodeOne[P any](what string, raw []byte) (P, error) {
	var p P
	err := decodeStrict(what, raw, &p)
	return p, err
}

// encode encodes a result or the params of a notification. What mapd shows is
// valid UTF-8 by construction, so a failure is a bug.
func encode(v any) ([]byte, error) {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return b, nil
}

// fileName returns the name of the file of a request, given by path or by uri.
func fileName(path, uri string) (string, error) {
	switch {
	case path != "" && uri != "":
		return "", wire.Errorf(wire.InvalidParams, "give path or uri, not both")
	case path != "":
		return path, nil
	case uri != "":
		return uriPath(uri)
	default:
		return "", wire.Errorf(wire.InvalidParams, "path is missing")
	}
}

// uriPath returns the file path that a file URI names. Percent escapes may
// stand for any bytes, so that names which are not UTF-8 can be asked for.
func uriPath(uri string) (string, error) {
	u, err := url.Parse(uri)
	switch {
	case err != nil:
		return "", wire.Errorf(wire.InvalidParams, "uri %q is not a URI", uri)
	case u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(u.Path):
		return "", wire.Errorf(wire.InvalidParams, "uri %q does not name a file of this machine; use file:///…", uri)
	}
	return filepath.Clean(u.Path), nil
}

// fileURI returns the file URI of an absolute path.
func fileURI(path string) string {
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// wireText returns s as valid UTF-8. Only names of files can be anything else.
func wireText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// quotePath returns a path for a message: as it is, or quoted if it holds what
// could be taken for the message's own text or break a terminal.
func quotePath(p string) string {
	if q := strconv.Quote(p); q != `"`+p+`"` || strings.Contains(p, " ") {
		return q
	}
	return p
}

func positive(name string, value *int, or int) (int, error) {
	if value == nil {
		return or, nil
	}
	if *value < 1 {
		return 0, wire.Errorf(wire.InvalidParams, "%s is %d; it must be at least 1", name, *value)
	}
	return *value, nil
}

func oneOf(name, value string, allowed ...string) error {
	for _, a := range allowed {
		if value == a {
			return nil
		}
	}
	return wire.Errorf(wire.InvalidParams, "%s is %q; it must be one of %s", name, value, strings.Join(allowed, ", "))
}

func orDefault(value, or string) string {
	if value == "" {
		return or
	}
	return value
}
