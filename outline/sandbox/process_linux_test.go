package sandbox

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// parentFlag makes this test binary a daemon that dies in the middle of a
// parse.
const parentFlag = "-mapd.test.parent"

func runIfParent() {
	if len(os.Args) != 2 || os.Args[1] != parentFlag {
		return
	}
	p := NewPool(Options{Timeout: time.Minute})
	w, err := p.launch()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(w.cmd.Process.Pid)
	select {}
}

// TestWorkersDieWithTheDaemon kills a daemon and waits for its worker, which
// becomes a child of this process.
func TestWorkersDieWithTheDaemon(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Skip(err)
	}
	defer unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	daemon := exec.Command("/proc/self/exe", parentFlag)
	daemon.Stderr = os.Stderr
	out, err := daemon.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	var worker int
	if _, err := fmt.Fscan(bufio.NewReader(out), &worker); err != nil {
		t.Fatal(err)
	}
	if pgid, err := syscall.Getpgid(worker); err != nil || pgid != worker {
		t.Errorf("the worker is in group %d, not its own: %v", pgid, err)
	}
	daemon.Process.Kill()
	daemon.Wait()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(worker, &status, 0, nil); err != nil { // else the test hangs
		t.Fatal(err)
	}
	if !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Errorf("the worker ended with %v", status)
	}
}

func TestNoInheritedDescriptors(t *testing.T) {
	f, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	open, err := syscall.Dup(int(f.Fd())) // without the close-on-exec flag
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(open)
	p := newPool(t, Options{})
	list, err := p.Parse(t.Context(), "inherited", []byte("x\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list.Symbols {
		t.Errorf("the worker has descriptor %s", s.Name)
	}
}

// A parse is measured by the processor's time, so that a busy machine does not
// cost a file its tree.
func TestProcessorTime(t *testing.T) {
	before, ok := processorTime(os.Getpid())
	if !ok {
		t.Fatal("the time of this process is not known")
	}
	for used := time.Duration(0); used < 30*time.Millisecond; {
		now, _ := processorTime(os.Getpid())
		used = now - before
	}
	if _, ok := processorTime(1<<22 - 1); ok {
		t.Error("the time of a process that is not there is known")
	}
}
