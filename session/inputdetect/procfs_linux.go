package inputdetect

import "github.com/longterm-dev/longterm/session/sys"

// process is a process being examined: its directory in /proc, held open, and its stat.
//
// The files that are read here and not in package sys (syscall, wchan, fdinfo, schedstat, net/tcp) are used for
// evidence only. A probe reads them many times a second into its own buffers.
type process struct {
	sys.ProcDir
	pid int
	sys.Stat
}

// openProcess opens a process. It fails if the process does not exist or may not be seen.
func (p *Prober) openProcess(pid int) (process, bool) {
	dir, err := sys.OpenProcDir(pid)
	if err != nil {
		return process{}, false
	}
	b, err := dir.Read("stat", p.buf)
	if err == nil {
		if s, err := sys.ParseStat(b); err == nil {
			p.name = append(p.name[:0], s.Name...)
			s.Name = p.name // p.buf is reused
			return process{dir, pid, s}, true
		}
	}
	dir.Close()
	return process{}, false
}

// read reads a file of a process, up to maxFileBytes bytes, into the prober's buffer. The result is valid until the next read.
func (p *Prober) read(pr *process, name string) ([]byte, error) { return pr.Read(name, p.buf) }
