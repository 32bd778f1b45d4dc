package gateway

import (
	"encoding/binary"
	"sync"

	"github.com/longterm-dev/longterm/session/policy"
)

// What an engine says of words depends on nothing but these, the place and the engine, which is another one when rules have
// changed. Builds and loops execute the same words again and again, and each of them waits for it in execve. So what is
// allowed is remembered. All else is looked at each time: which rules are in effect, which file it is, what its operands are.

// Bounds of what is remembered. At one too many all is forgotten.
const (
	maxVerdicts     = 512
	maxVerdictBytes = 2 << 10 // of one: its words and where it is
	maxEnginesKept  = 16
)

// verdicts are those of executions that engines allowed. Others may be using a judgement: none is changed.
type verdicts struct {
	mu    sync.Mutex
	by    map[*policy.Engine]map[string]policy.Judgement
	count int
	key   []byte
}

// argv is Engine.JudgeArgv.
func (v *verdicts) argv(engine *policy.Engine, file string, argv []string, l policy.Line) policy.Judgement {
	if v == nil || l.State != nil || l.Real != nil || l.Text != "" || weight(file, argv, &l) > maxVerdictBytes {
		return engine.JudgeArgv(file, argv, l)
	}
	v.mu.Lock()
	v.key = appendKey(v.key[:0], file, argv, &l)
	j, known := v.by[engine][string(v.key)]
	v.mu.Unlock()
	if known {
		return j
	}
	if j = engine.JudgeArgv(file, argv, l); j.Verdict == policy.Allow {
		v.add(engine, file, argv, &l, j)
	}
	return j
}

func (v *verdicts) add(engine *policy.Engine, file string, argv []string, l *policy.Line, j policy.Judgement) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.count >= maxVerdicts || len(v.by) >= maxEnginesKept && v.by[engine] == nil {
		clear(v.by)
		v.count = 0
	}
	if v.by == nil {
		v.by = map[*policy.Engine]map[string]policy.Judgement{}
	}
	if v.by[engine] == nil {
		v.by[engine] = map[string]policy.Judgement{}
	}
	v.by[engine][string(appendKey(nil, file, argv, l))] = j
	v.count++
}

func weight(file string, argv []string, l *policy.Line) int {
	n := len(file) + len(l.Shell) + len(l.Cwd) + len(l.Home) + len(l.Account)
	for _, w := range argv {
		n += len(w) + 1
	}
	return n
}

// appendKey appends all that a judgement of words depends on besides the engine, each with its length.
func appendKey(b []byte, file string, argv []string, l *policy.Line) []byte {
	installed := byte(0)
	if l.Installed {
		installed = 1
	}
	b = append(b, installed)
	for _, s := range [...]string{file, l.Shell, l.Cwd, l.Home, l.Account} {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	for _, s := range argv {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}
