package inputdetect

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// testProgram runs the test binary as a program that waits in one particular way. The waits are raw system calls on a
// locked thread, so that Go's own do not interfere.
func testProgram(mode string) {
	runtime.LockOSThread()
	// An event besides the terminal that never occurs.
	var pipe [2]int
	check(unix.Pipe(pipe[:]))
	hour := unix.NsecToTimespec(int64(time.Hour))
	switch mode {
	case "poll", "poll1h", "poll-other", "poll-output":
		fds := []unix.PollFd{{Fd: int32(pipe[0]), Events: unix.POLLIN}, {Fd: 0, Events: unix.POLLIN}}
		timeout := -1
		switch mode {
		case "poll1h":
			timeout = int(time.Hour / time.Millisecond)
		case "poll-other":
			fds = fds[:1]
		case "poll-output":
			fds[1].Events = unix.POLLPRI
		}
		fmt.Println("ready")
		_, err := unix.Poll(fds, timeout)
		check(err)
	case "select", "select1h":
		var set unix.FdSet
		set.Set(pipe[0])
		set.Set(0)
		timeout := &hour
		if mode == "select" {
			timeout = nil
		}
		_, err := unix.Pselect(pipe[0]+1, &set, nil, nil, timeout, nil)
		check(err)
	case "epoll", "epoll1h", "epoll-nested", "epoll-other":
		waitEpoll(mode, pipe[0])
	case "thread":
		go func() {
			runtime.LockOSThread()
			var b [1]byte
			_, _ = unix.Read(0, b[:])
		}()
		var b [1]byte
		_, _ = unix.Read(pipe[0], b[:])
	case "writes":
		text := make([]byte, 1<<20)
		for {
			_, err := unix.Write(1, text)
			check(err)
		}
	case "orphan":
		startOrphan(pipe)
	case "probe":
		printProbe()
	case "reads":
		_, _ = unix.Read(0, make([]byte, 1))
	}
}

func waitEpoll(mode string, other int) {
	ep, err := unix.EpollCreate1(0)
	check(err)
	add := func(ep, fd int) {
		check(unix.EpollCtl(ep, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}))
	}
	add(ep, other)
	if mode != "epoll-other" {
		add(ep, 0)
	}
	if mode == "epoll-nested" {
		outer, err := unix.EpollCreate1(0)
		check(err)
		add(outer, ep)
		ep = outer
	}
	timeout := -1
	if mode == "epoll1h" {
		timeout = int(time.Hour / time.Millisecond)
	}
	fmt.Println("ready")
	_, err = unix.EpollWait(ep, make([]unix.EpollEvent, 1), timeout)
	check(err)
}

// startOrphan leaves the foreground group to a grandchild whose parent has exited: it is no descendant of the session
// leader then. (Its parent becomes init, or the subreaper.)
func startOrphan(pipe [2]int) {
	tty, err := unix.Open("/dev/tty", unix.O_RDWR, 0)
	check(err)
	cmd := exec.Command("sh", "-c", `"$0" <&3 & `, os.Args[0])
	cmd.Env = append(os.Environ(), "EVIDENCE_TEST_PROGRAM=reads")
	cmd.ExtraFiles = []*os.File{os.NewFile(uintptr(tty), "tty")}
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true, Foreground: true, Ctty: tty}
	check(cmd.Run())
	var b [1]byte
	_, _ = unix.Read(pipe[0], b[:])
}

// printProbe probes the terminal whose master is descriptor 3, as another user.
func printProbe() {
	target, err := TargetOf(3)
	check(err)
	var p Prober
	var r Result
	for range 1000 {
		if r = p.Probe(target); r.Idle {
			break
		}
	}
	fmt.Print(r.State, " ", r.Source)
	if r.Idle {
		fmt.Print(" idle")
	}
	fmt.Println()
}

// check ends the process with a message on an error.
func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
