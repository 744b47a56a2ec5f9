package outline

import (
	"os"
	"testing"

	"mapd/outline/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.RunIfWorker()
	os.Exit(m.Run())
}
