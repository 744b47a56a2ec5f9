package hashline

import (
	"encoding/hex"

	"github.com/zeebo/xxh3"
)

// Digest identifies content: the 128-bit XXH3 (seed 0) of all its bytes. It is
// not a defence against someone who constructs collisions on purpose.
type Digest [16]byte

// Sum returns the digest of b.
func Sum(b []byte) Digest { return Digest(xxh3.Hash128(b).Bytes()) }

// String returns the digest in lower-case hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }
