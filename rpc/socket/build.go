package socket

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"sync"
)

// Build returns the first 12 hex digits of a digest of this executable's Go build
// id. Two builds of different code differ in it, also when both have the version
// (devel); the same build has the same one wherever its file lies.
func Build() (string, error) { return build() }

var build = sync.OnceValues(func() (string, error) {
	id, err := buildID()
	if err != nil {
		return "", fmt.Errorf("read the build id of this executable: %w", err)
	}
	sum := sha256.Sum256(id)
	return hex.EncodeToString(sum[:])[:12], nil
})

// digest is the build id of an executable without one: it is made of the bytes,
// which tell builds apart as well, only more slowly.
func digest(r io.Reader) ([]byte, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return nil, err
	}
	return sum.Sum(nil), nil
}
