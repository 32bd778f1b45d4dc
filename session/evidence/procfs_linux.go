package evidence

import "github.com/longterm-dev/longterm/session/sys"

// process is a process that is examined: its directory in /proc, held open, and what it is.
//
// What is read here and not in package sys (syscall, wchan, fdinfo, schedstat, net/tcp) is evidence
// alone: nothing else can use it, and a probe reads it many times a second into its own buffers.
type process struct {
	sys.Dir
	pid int
	sys.Stat
}

// openProcess fails if there is no such process, or it may not be seen.
func (p *Prober) openProcess(pid int) (process, bool) {
	dir, err := sys.OpenDir(pid)
	if err != nil {
		return process{}, false
	}
	b, err := dir.Read("stat", p.buf)
	if err == nil {
		if s, err := sys.ParseStat(b); err == nil {
			p.name = append(p.name[:0], s.Name...)
			s.Name = p.name // p.buf is used again
			return process{dir, pid, s}, true
		}
	}
	dir.Close()
	return process{}, false
}

// read reads a file of a process, as far as the prober's buffer goes: up to maxFile. The result is
// valid until the next read.
func (p *Prober) read(pr *process, name string) ([]byte, error) { return pr.Read(name, p.buf) }
