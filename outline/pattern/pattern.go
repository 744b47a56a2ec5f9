package pattern

import (
	"context"

	"mapd/hashline"
	"mapd/outline/symbol"
)

// Scan returns the symbols that line patterns find in text.
func Scan(ctx context.Context, lang string, text *hashline.Text) (symbol.List, error) {
	return symbol.List{Source: symbol.None, Why: symbol.Unsupported}, ctx.Err()
}
