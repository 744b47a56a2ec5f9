package hashline_test

import (
	"fmt"

	"mapd/hashline"
)

func ExampleText_AppendAnchored() {
	t := hashline.NewText([]byte("alpha\nbeta\ngamma\n"))
	fmt.Printf("%s\n", t.AppendAnchored(nil, hashline.Range{Start: 2, End: 3}, hashline.DefaultWidth))
	// Output:
	// 2#XSYB:beta
	// 3#PXBV:gamma
}

func ExampleMapLines() {
	served := hashline.NewText([]byte("func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 2\n}\n"))
	live := hashline.NewText([]byte("// Package x.\nfunc a() {\n\treturn 7\n}\n\nfunc b() {\n\treturn 2\n}\n"))
	m := hashline.MapLines(served, live)
	for _, line := range []int{1, 2, 3, 6} {
		fate := m.Line(line)
		fmt.Printf("%d %s: %s, %s\n", line, served.Line(line), fate.Status, fate.Now)
	}
	// Output:
	// 1 func a() {: moved, 2
	// 2 	return 1: changed, 3
	// 3 }: ambiguous, 4
	// 6 	return 2: moved, 7
}

func ExampleApply() {
	t := hashline.NewText([]byte("one\r\ntwo\r\nthree"))
	a, err := hashline.Apply(t, []hashline.Edit{
		{Op: hashline.Replace, Start: 2, End: 2, Lines: []string{"TWO", "two and a half"}},
		{Op: hashline.Append, Start: 3, Lines: []string{"four"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n", a.New.Bytes())
	fmt.Println(a.Renumber, a.Map.Line(3).Now)
	// Output:
	// "one\r\nTWO\r\ntwo and a half\r\nthree\r\nfour"
	// [{2 1} {3 1}] 4
}
