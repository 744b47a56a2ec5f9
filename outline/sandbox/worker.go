package sandbox

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"mapd/outline/grammar"
)

// RunIfWorker turns this process into a worker and does not return, if it was
// started as one. It is the first statement of main and of each TestMain whose
// package parses.
func RunIfWorker() { runIfWorker(outline) }

// answerFunc makes the answer, status first, to a request.
type answerFunc func(grammar string, src []byte) []byte

func runIfWorker(answer answerFunc) {
	if len(os.Args) != 4 || os.Args[1] != workerFlag {
		return
	}
	memory, err1 := strconv.ParseInt(os.Args[2], 10, 64)
	timeout, err2 := strconv.ParseInt(os.Args[3], 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if err := confine(memory); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// All that a parse makes is garbage when its answer is written; until then
	// there is nothing to collect.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(min(memory/4, 256<<20))
	if err := serve(os.Stdin, os.Stdout, time.Duration(timeout), answer); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// largeFile is the size from which a parse leaves memory behind that is worth
// giving back.
const largeFile = 256 << 10

// serve answers requests until in ends.
func serve(in io.Reader, out io.Writer, timeout time.Duration, answer answerFunc) error {
	if _, err := io.WriteString(out, greeting); err != nil {
		return err
	}
	r := bufio.NewReaderSize(in, 4<<10)
	for {
		grammar, src, err := readRequest(r)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := limitCPU(timeout); err != nil {
			return err
		}
		body := answer(grammar, src)
		frame := make([]byte, answerHead, answerHead+len(body))
		frame[0] = body[0]
		binary.LittleEndian.PutUint32(frame[1:], uint32(len(body)-1))
		if _, err := out.Write(append(frame, body[1:]...)); err != nil {
			return err
		}
		if len(src) >= largeFile {
			src, body, frame = nil, nil, nil
			releaseMemory()
		}
	}
}

func releaseMemory() {
	grammar.ReleaseMemory()
	debug.FreeOSMemory()
}

// outline is the answer of a real worker.
func outline(name string, src []byte) (answer []byte) {
	defer func() {
		if r := recover(); r != nil {
			answer = append([]byte{statusFailed}, fmt.Sprintf("panic: %v\n%s", r, debug.Stack())...)
		}
	}()
	if !grammar.Supports(name) {
		return append([]byte{statusUnsupported}, name...)
	}
	list, err := grammar.Outline(name, src)
	if err != nil {
		return append([]byte{statusFailed}, err.Error()...)
	}
	return encodeList([]byte{statusOK}, &list)
}
