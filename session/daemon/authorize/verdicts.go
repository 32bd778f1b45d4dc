package authorize

import (
	"encoding/binary"
	"sync"

	"github.com/longterm-dev/longterm/session/policy"
)

// A judgement of words depends only on the words, the place and the engine, which is replaced when rules change. Builds
// and loops execute the same words many times, each waiting in execve, so allowed ones are cached. The rules in effect,
// the file and the operands are checked every time.

// Bounds of the cache, which is emptied when full.
const (
	maxVerdicts     = 512
	maxVerdictBytes = 2 << 10 // of one: its words and where it is
	maxEnginesKept  = 16
)

// verdicts caches allowed executions by engine. Cached judgements are shared and must not be changed.
type verdicts struct {
	mu       sync.Mutex
	byEngine map[*policy.Engine]map[string]policy.Judgement
	count    int
	key      []byte // buffer for appendKey
}

// judgeArgv returns Engine.JudgeArgv, from the cache if possible.
func (v *verdicts) judgeArgv(engine *policy.Engine, file string, argv []string, l policy.Line) policy.Judgement {
	if v == nil || l.State != nil || l.Disk != nil || l.Text != "" || entrySize(file, argv, &l) > maxVerdictBytes {
		return engine.JudgeArgv(file, argv, l)
	}
	v.mu.Lock()
	v.key = appendKey(v.key[:0], file, argv, &l)
	j, known := v.byEngine[engine][string(v.key)]
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
	if v.count >= maxVerdicts || len(v.byEngine) >= maxEnginesKept && v.byEngine[engine] == nil {
		clear(v.byEngine)
		v.count = 0
	}
	if v.byEngine == nil {
		v.byEngine = map[*policy.Engine]map[string]policy.Judgement{}
	}
	if v.byEngine[engine] == nil {
		v.byEngine[engine] = map[string]policy.Judgement{}
	}
	v.byEngine[engine][string(appendKey(nil, file, argv, l))] = j
	v.count++
}

// entrySize returns the size of a cache entry's key parts, in bytes.
func entrySize(file string, argv []string, l *policy.Line) int {
	n := len(file) + len(l.Shell) + len(l.Cwd) + len(l.Home) + len(l.Account)
	for _, w := range argv {
		n += len(w) + 1
	}
	return n
}

// appendKey appends everything except the engine that a judgement of words depends on, each part with its length.
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
