package format

import (
	"context"

	"mapd/hashline"
	"mapd/outline/pattern"
	"mapd/outline/symbol"
)

// A scanner adds the symbols of one document to d.
type scanner func(d *doc)

// scanners holds one scanner for each language by its name.
var scanners = map[string]scanner{
	"json":       scanJSON,
	"jsonc":      scanJSON5,
	"jsonl":      scanJSONLines,
	"markdown":   scanMarkdown,
	"mdx":        scanMDX,
	"yaml":       scanYAML,
	"toml":       scanTOML,
	"ini":        scanINI,
	"env":        scanEnv,
	"properties": scanProperties,
	"csv":        scanCSV,
	"tsv":        scanTSV,
	"sql":        scanSQL,
	"clojure":    scanClojure,
	"edn":        scanEDN,
	"rst":        scanRST,
	"asciidoc":   scanASCIIDoc,
	"latex":      scanLaTeX,
	"diff":       scanDiff,
	"xml":        scanXML,
	"ipynb":      scanNotebook,
}

// patterns are the languages without a scanner of their own: the best that is
// known of them are their line patterns.
var patterns = map[string]bool{
	"makefile": true, "just": true, "graphql": true, "nix": true, "zig": true, "dart": true, "haskell": true, "julia": true,
	"perl": true, "r": true, "objc": true, "solidity": true, "vue": true,
}

// Supports reports whether Scan knows the language.
func Supports(lang string) bool { return scanners[lang] != nil || patterns[lang] }

// Scan returns the symbols of text in the language. Its error is that of ctx,
// and nothing else is an error: a broken document gives a list whose Source and
// Why say so, and an unknown language an empty one of source symbol.None.
func Scan(ctx context.Context, lang string, text *hashline.Text) (symbol.List, error) {
	if patterns[lang] {
		return pattern.Scan(ctx, lang, text)
	}
	scan := scanners[lang]
	if scan == nil {
		return symbol.List{Source: symbol.None, Why: symbol.Unsupported}, ctx.Err()
	}
	d := newDoc(ctx, text)
	if text.Lines() > 0 && !d.stopped() {
		scan(d)
	}
	if err := ctx.Err(); err != nil {
		return symbol.List{}, err
	}
	return d.list(), nil
}
