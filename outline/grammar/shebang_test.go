package grammar

import "testing"

// The line that says how a script is run is not what its first definition says.
func TestShebangIsNoDocstring(t *testing.T) {
	list, err := Outline("python", []byte("#!/usr/bin/env python3\ndef f():\n    pass\n"))
	if err != nil || len(list.Symbols) != 1 || list.Symbols[0].Docstring != "" {
		t.Errorf("%v %+v", err, list.Symbols)
	}
}
