package outline

import (
	"context"

	"mapd/hashline"
	"mapd/outline/format"
)

// Find looks in the text itself for what Lookup did not find, where the file is
// of a format: elements, records and keys that its outline leaves out because
// there are too many. It reads the whole text. It reports false if there is no
// such place, or if the language is not a format; the error is ctx's.
func Find(ctx context.Context, lang Language, text *hashline.Text, path string) (Match, bool, error) {
	if !format.Supports(string(lang)) {
		return Match{}, false, ctx.Err()
	}
	s, found, err := format.Find(ctx, string(lang), text, path)
	if err != nil || !found {
		return Match{}, false, err
	}
	return Match{Symbol: &s, Path: path}, true, nil
}
