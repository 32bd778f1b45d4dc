package confine

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/sys"
)

// probeTimeout bounds a probe.
const probeTimeout = 10 * time.Second

// ProbeNamespaces returns why namespaces are unavailable here, or nil. It tries once: a process of this executable
// creates them and exits. main must start with Enter.
var ProbeNamespaces = sync.OnceValue(func() error {
	return probe(&Sandbox{Namespaces: &Namespaces{Network: true, HostRoot: true, Dir: "/"}})
})

// ProbeDrafts returns why drafts cannot be kept below a directory, or nil. It mounts an overlay there in a separate
// namespace and changes directories in it. dir must be absolute and without links.
func ProbeDrafts(dir string) error {
	try, err := os.MkdirTemp(dir, "probe-*")
	if err != nil {
		return err
	}
	defer func() {
		_ = os.Chmod(filepath.Join(try, "work/work"), 0o700) // the kernel's directory has mode 000
		_ = os.RemoveAll(try)
	}()
	return probe(&Sandbox{ProbeDraftDir: try, Namespaces: &Namespaces{HostRoot: true, Dir: "/"}})
}

// probe starts a process of this executable that enters a sandbox and exits.
func probe(sb *Sandbox) error {
	if _, _, ok, _ := ownSpec(os.Args, os.Environ()); ok { // the process would start itself forever
		return errors.New("this executable does not start with confine.Enter")
	}
	sb.Probe, sb.DropCapabilities = true, true
	s := Spec{Path: sys.Executable, Sandbox: sb}
	argv, env, err := s.Command([]string{"probe"}, os.Environ())
	if err != nil {
		return err
	}
	var stderr bytes.Buffer
	cmd := &exec.Cmd{Path: sys.Executable, Args: argv, Env: env, Stderr: &stderr, WaitDelay: probeTimeout}
	if err := cmd.Start(); err != nil {
		return err
	}
	late := time.AfterFunc(probeTimeout, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	if err := cmd.Wait(); err != nil {
		text := strings.TrimPrefix(strings.TrimSpace(stderr.String()), "longterm: not started: ")
		if text == "" {
			text = err.Error()
		}
		return errors.New(text)
	}
	return nil
}
