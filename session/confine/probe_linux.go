package confine

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/sys"
)

// probeTime bounds what is tried out.
const probeTime = 10 * time.Second

// ProbeNamespaces says why namespaces cannot be had here; nil: they can. They are tried out, once: a process of our own
// executable makes them and ends. main has to begin with Enter.
var ProbeNamespaces = sync.OnceValue(func() error {
	if _, _, ok, _ := entered(os.Args, os.Environ()); ok { // else it would start itself again and again
		return errors.New("this executable does not begin with confine.Enter")
	}
	s := Spec{Path: sys.Executable, Sandbox: &Sandbox{Probe: true, Powerless: true, Namespaces: &Namespaces{Network: true, Whole: true, Dir: "/"}}}
	argv, env, err := s.Command([]string{"probe"}, os.Environ())
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd := &exec.Cmd{Path: sys.Executable, Args: argv, Env: env, Stderr: &said, WaitDelay: probeTime}
	if err := cmd.Start(); err != nil {
		return err
	}
	late := time.AfterFunc(probeTime, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	if err := cmd.Wait(); err != nil {
		text := strings.TrimPrefix(strings.TrimSpace(said.String()), "longterm: not started: ")
		if text == "" {
			text = err.Error()
		}
		return errors.New(text)
	}
	return nil
})
