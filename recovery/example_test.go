package recovery_test

import (
	"fmt"

	"mapd/hashline"
	"mapd/recovery"
)

// versions keeps every text, and compares.
type versions map[string]*hashline.Text

func (v versions) Text(snapshot string) (*hashline.Text, bool) {
	t, ok := v[snapshot]
	return t, ok
}

func (v versions) Map(snapshot string) (*hashline.LineMap, bool) {
	return hashline.MapLines(v[snapshot], v["e.2"]), true
}

// A session is shown two lines; another program inserts a line above them and
// changes one.
func ExampleScene_Check() {
	texts := versions{
		"e.1": hashline.NewText([]byte("red\ngreen\nblue\n")),
		"e.2": hashline.NewText([]byte("new\nred\ngreen\nBLUE\n")),
	}
	ledger := recovery.NewLedgers(1 << 20).New()
	ledger.Record(recovery.Delivery{Path: "/colours", Snapshot: "e.1", Lines: []hashline.Range{{Start: 2, End: 3}}})

	scene := &recovery.Scene{Held: ledger.File("/colours").Held, Live: texts["e.2"], Texts: texts}
	green, blue := texts["e.1"].Anchor(2, 4), texts["e.1"].Anchor(3, 4)
	report := scene.Check([]hashline.Anchor{green, blue}, "")
	for _, v := range report.Results {
		fmt.Println(v.Anchor, v.Status, v.Place)
	}
	fmt.Println(report.Remaps, report.Affected)
	// Output:
	// 2#TSZZ moved 3
	// 3#PWXK changed 4
	// map[2#TSZZ:3#TQZR] [4]
}
