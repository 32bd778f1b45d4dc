package vterm

import "github.com/longterm-dev/longterm/vterm/internal/parse"

// keyboard holds the program's settings for the encoding of keys, except modes.
type keyboard struct {
	kitty     [2]kittyStack // per screen
	keyFormat keyFormat
}

// kittyStack holds the flags of the kitty keyboard protocol for one screen; the last entry is active. A push onto a
// full stack drops the oldest, as the protocol requires.
type kittyStack struct {
	entries [kittyDepth]uint8
	n       int
}

const kittyDepth = 16

func (k *kittyStack) flags() uint8 {
	if k.n == 0 {
		return k.entries[0]
	}
	return k.entries[k.n]
}

func (k *kittyStack) set(flags uint8) { k.entries[k.n] = flags }

func (k *kittyStack) push(flags uint8) {
	if k.n == kittyDepth-1 {
		copy(k.entries[:], k.entries[1:])
		k.n--
	}
	k.n++
	k.entries[k.n] = flags
}

// pop removes n entries. Emptying the stack resets all flags.
func (k *kittyStack) pop(n int) {
	for ; n > 0 && k.n > 0; n-- {
		k.entries[k.n] = 0
		k.n--
	}
	if n > 0 {
		k.entries[0] = 0
	}
}

// kittyFlags adapts a handler that changes the flags of the active screen.
func kittyFlags(f func(k *kittyStack, s *parse.Seq)) func(*Terminal, *parse.Seq) {
	return func(t *Terminal, s *parse.Seq) { f(&t.kitty[t.slot()], s) }
}

// pushFlags implements CSI > flags u.
func (k *kittyStack) pushFlags(s *parse.Seq) { k.push(uint8(s.Param(0, 0)) & KittyFlagsAll) }

// popFlags implements CSI < n u.
func (k *kittyStack) popFlags(s *parse.Seq) { k.pop(s.Count(0)) }

// setFlags implements CSI = flags ; mode u: 1 sets all, 2 adds, 3 removes.
func (k *kittyStack) setFlags(s *parse.Seq) {
	flags := uint8(s.Param(0, 0)) & KittyFlagsAll
	switch s.Param(1, 1) {
	case 1:
		k.set(flags)
	case 2:
		k.set(k.flags() | flags)
	case 3:
		k.set(k.flags() &^ flags)
	}
}

// queryKitty answers CSI ? u, unless the outer terminal cannot serve it.
func (t *Terminal) queryKitty(*parse.Seq) {
	if t.opts.outer.Keys == KeysNone {
		return
	}
	t.replyCSI("?%du", t.reportedKitty())
}

// keyFormat holds the settings of XTMODKEYS and XTFMTKEYS.
type keyFormat struct {
	resources   [8]int8 // values of XTMODKEYS, plus one; 0 is the default
	modifyOther uint8
	formatOther uint8
}

const modifyOtherKeys = 4 // the resource number

// keyFormats adapts a handler that changes the key format.
func keyFormats(f func(k *keyFormat, s *parse.Seq)) func(*Terminal, *parse.Seq) {
	return func(t *Terminal, s *parse.Seq) { f(&t.keyFormat, s) }
}

// modify implements XTMODKEYS, CSI > Pp ; Pv m, and its reset CSI > Pp n.
func (k *keyFormat) modify(s *parse.Seq) {
	if s.N == 0 {
		k.resources, k.modifyOther = [8]int8{}, 0
		return
	}
	p, v := s.Param(0, 0), s.Param(1, -1)
	if s.Final == 'n' {
		v = -1
	}
	if p >= len(k.resources) || v > 3 {
		return
	}
	k.resources[p] = int8(v + 1)
	if p == modifyOtherKeys {
		k.modifyOther = uint8(min(max(v, 0), 2))
	}
}

// queryModifyKeys implements XTQMODKEYS.
func (t *Terminal) queryModifyKeys(s *parse.Seq) {
	if p := s.Param(0, 0); p < len(t.keyFormat.resources) {
		t.replyCSI(">%d;%dm", p, max(0, int(t.keyFormat.resources[p])-1))
	}
}

// format implements XTFMTKEYS.
func (k *keyFormat) format(s *parse.Seq) {
	if s.N == 0 || s.Param(0, 0) == modifyOtherKeys {
		k.formatOther = uint8(s.Param(1, 0) & 1)
	}
}
