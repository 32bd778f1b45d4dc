package vterm

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// field is a place in the emulator's state: how to get there from a terminal.
type field struct {
	name  string // as in Go, without the names of embedded parts; [] is any element
	steps []step
}

// step leads from a value to one that it contains; an index of -1 follows a pointer.
type step int

const follow step = -1

// at returns the field of a terminal, addressable and settable; false: it does not exist, for example without a screen.
func (f *field) at(t *Terminal) (v reflect.Value, ok bool) {
	v = reflect.ValueOf(t).Elem()
	for _, s := range f.steps {
		switch {
		case s == follow && v.IsNil():
			return v, false
		case s == follow:
			v = v.Elem()
		case v.Kind() == reflect.Struct:
			v = v.Field(int(s))
		case int(s) >= v.Len():
			return v, false
		default:
			v = v.Index(int(s))
		}
	}
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem(), true
}

// fieldsOf lists all fields of a terminal down to numbers, texts and maps. Of arrays and slices it lists the first and
// the last element.
func fieldsOf(t *Terminal) (list []field) {
	seen := map[unsafe.Pointer]bool{}
	var walk func(v reflect.Value, f field)
	walk = func(v reflect.Value, f field) {
		with := func(name string, s step) field {
			return field{name: name, steps: append(slices.Clone(f.steps), s)}
		}
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				name, part := f.name, v.Type().Field(i)
				if !part.Anonymous {
					name = strings.TrimPrefix(name+"."+part.Name, ".")
				}
				walk(v.Field(i), with(name, step(i)))
			}
		case reflect.Pointer:
			p := v.UnsafePointer()
			if within := uintptr(p) - uintptr(unsafe.Pointer(t)); p == nil || seen[p] || within < unsafe.Sizeof(*t) {
				list = append(list, f)
				return
			}
			seen[p] = true
			walk(v.Elem(), with(f.name, follow))
		case reflect.Slice, reflect.Array:
			if v.Kind() == reflect.Slice {
				list = append(list, f)
			}
			if n := v.Len(); n > 0 {
				walk(v.Index(0), with(f.name+"[]", 0))
				if n > 1 {
					walk(v.Index(n-1), with(f.name+"[]", step(n-1)))
				}
			}
		default:
			list = append(list, f)
		}
	}
	walk(reflect.ValueOf(t).Elem(), field{})
	return list
}

// others returns other values for v.
func others(v reflect.Value) (list []reflect.Value) {
	add := func(set func(n reflect.Value)) {
		n := reflect.New(v.Type()).Elem()
		n.Set(v)
		set(n)
		list = append(list, n)
	}
	switch {
	case v.Kind() == reflect.Bool:
		add(func(n reflect.Value) { n.SetBool(!v.Bool()) })
	case v.CanInt():
		for _, i := range []int64{v.Int() - 1, v.Int() + 1, 1, 2, 3, 0} {
			add(func(n reflect.Value) { n.SetInt(i) })
		}
	case v.CanUint():
		for _, i := range []uint64{v.Uint() - 1, v.Uint() + 1, 1, 2, 4, 8, 0, v.Uint() ^ 1} {
			add(func(n reflect.Value) { n.SetUint(i) })
		}
	case v.CanFloat():
		add(func(n reflect.Value) { n.SetFloat(v.Float()/2 + 1) })
	case v.Kind() == reflect.String:
		add(func(n reflect.Value) { n.SetString(v.String() + "x") })
	case v.Kind() == reflect.Slice:
		add(func(n reflect.Value) { n.Set(reflect.Append(v, reflect.Zero(v.Type().Elem()))) })
		if v.Len() > 0 {
			add(func(n reflect.Value) { n.Set(v.Slice(0, v.Len()-1)) })
		}
	case v.Kind() == reflect.Map:
		add(func(n reflect.Value) {
			n.Set(reflect.MakeMap(v.Type()))
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			for _, part := range []reflect.Value{key, value} {
				if o := others(part); len(o) > 0 {
					part.Set(o[1%len(o)])
				}
			}
			n.SetMapIndex(key, value)
		})
	case v.Kind() == reflect.Pointer:
		add(func(n reflect.Value) { n.SetZero() })
	}
	return list
}

// populated is a terminal with something in every part.
func populated() *Terminal {
	t := New(Options{Cols: 12, Rows: 3})
	feed(t, everything)
	return t
}

// fate sets a field to other values, calls do, and compares the field in the result. kept: such a value was found
// again. lost: it was replaced by the value of an untouched terminal. other: by a third value. None is set if no value
// could be tried.
func fate(f *field, do func(*Terminal) *Terminal) (kept, lost, other bool) {
	untouched, known := f.at(do(populated()))
	before, _ := f.at(populated())
	for _, o := range append(others(before), before) {
		if known && reflect.DeepEqual(o.Interface(), untouched.Interface()) {
			continue // it would show nothing
		}
		func() {
			defer func() { _ = recover() }() // it cannot be
			t := populated()
			v, _ := f.at(t)
			v.Set(o)
			if t = do(t); t == nil {
				return
			}
			now, ok := f.at(t)
			switch {
			case ok && reflect.DeepEqual(now.Interface(), o.Interface()):
				kept = true
			case ok == known && (!ok || reflect.DeepEqual(now.Interface(), untouched.Interface())):
				lost = true
			default:
				other = true
			}
		}()
	}
	return kept, lost, other
}

// notInSnapshots lists the fields that no snapshot contains separately, with the reason. A * matches all fields of a
// part.
var notInSnapshots = map[string]string{
	"opts.*":      "the next owner has its own",
	"scrolls":     "the owner's",
	"lastModes.*": "derived from the modes",
	"syncing":     "derived from the modes",
	"simple":      "derived from modes and character sets",
	"rows":        "coded, and bound to the screens: none other can be",
	"parser.VT52": "coded, and bound to the mode: none other can be",

	"at": "counts within one Write", "before": "set by each control function before it is looked at",
	"events": "what is not drained is not part of it", "events[].*": "what is not drained is not part of it",
	"eventsLost": "what is not drained is not part of it", "replies": "what is not drained is not part of it",
	"bell": "said in a Write that has ended", "colors.out": "the terminal's own answers", "colors.outer": "in opts",

	"cell": "derived from the pen", "penStale": "derived from the pen", "penAt": "derived from the pen",
	"blank": "derived from blankBG", "blankBG": "derived from the pen when something is erased",
	"protect":    "coded; the bits tried are those of cells with a style",
	"sgrCache.*": "a cache",

	"parser.Byte": "of an event that was taken", "parser.StrState": "of a string that was taken",
	"parser.Str": "coded while a string is read", "parser.Str[]": "coded while a string is read",
	"parser.Seq.Params[]": "coded as far as they are in use",
	"decoder.partLen":     "coded as far as it is in use", "decoder.partial[]": "coded as far as it is in use",
	"collector.ID": "known once all chunks have come, and then the image is made",

	"tablesVersion":     "now, so that frames of before are full ones",
	"tables.Clusters.*": "coded with the rows", "tables.Links.bytes": "a sum", "tables.Links.index": "an index",
	"tables.Links.List[].*":  "coded; the first one is no link",
	"tables.Styles.List[].*": "coded; the first one is the default rendition",
	"tables.Styles.limit":    "grows with the list", "tables.Styles.slots": "an index", "tables.Styles.slots[]": "an index",
	"tables.Styles.filter": "made of the list when it is needed", "tables.symbols.*": "a cache",

	"images.Bytes": "a sum", "images.Images": "coded; what was tried is no image",
	"images.Placements":     "coded; what was tried has no image",
	"images.Placements[].*": "coded; the first one is none, and the cells tell how many there are",

	"scrollback.cols": "set by who asks for lines", "scrollback.open": "counted on restore", "scrollback.ReflowedCells": "a counter for tests",
	"scr":             "coded as which of the two it is",
	"primary.*":       "of the type of the alternate screen, which is looked at: its rows begin at 0",
	"alternate.Moved": "now", "alternate.Cols": "the terminal's", "alternate.rows": "the terminal's",
	"alternate.base": "rows are coded from the first one shown on", "alternate.tables": "the terminal's",
	"alternate.dirtyHi": "all is new to a reader", "alternate.dirtyLo": "all is new to a reader",
	"alternate.ring": "as many as the terminal has rows", "alternate.ring[]": "each coded",
	"alternate.ring[].Version": "now", "alternate.ring[].Cells": "as many as the terminal has columns",
	"alternate.ring[].Inflated": "rows are restored inflated", "alternate.ring[].Packed.*": "rows are restored inflated",
	"alternate.ring[].Image": "derived from the cells", "alternate.ring[].Wide": "derived from the cells",

	"scrollback.log.*": "the storage, which is coded record by record",
	"scrollback.bytes": "of the next owner's options", "scrollback.lines": "of the next owner's options",
	"scrollback.scratch": "a buffer", "scrollback.tables": "the terminal's",
}

// notReset lists the fields that RIS does not change, or whose reset cannot be seen, with the reason.
var notReset = map[string]string{
	"opts.*": "the owner's",

	"scrolls": "the owner's",
	"modes":   "whether DECCOLM is allowed stays, as in xterm",
	"cols":    "the size stays", "rows": "the size stays",
	"clipboard":    "the user's",
	"title.window": "stays, as in xterm", "title.icon": "stays, as in xterm",

	"parser.*": "RIS is a sequence that it reads; after one it is at its beginning", "decoder.*": "cleared by the escape",
	"written": "counts on", "events": "kept for the owner", "events[].*": "kept for the owner",
	"eventsLost": "kept for the owner", "replies": "kept for the owner", "bell": "kept for the owner", "colors.out": "the terminal's own answers", "colors.outer": "in opts",
	"lastModes.*": "derived, and compared when the Write ends",
	"cell":        "derived from the pen when something is printed", "sgrCache.*": "a cache",

	"tables.*": "frames that were taken share them", "tablesVersion": "when the tables were rebuilt",
	"primary.*":       "rows are blanked, and the screen stays",
	"scrollback.cols": "set by who asks for lines", "scrollback.Base": "ids of lines are given once", "scrollback.bytes": "the owner's", "scrollback.lines": "the owner's",
	"scrollback.scratch": "a buffer", "scrollback.tables": "the terminal's", "scrollback.log.*": "the storage, which is emptied",
	"scrollback.ReflowedCells": "a counter for tests",
}

// TestNoFieldIsForgotten checks that each field of the emulator's state is restored from a snapshot and set by RIS, or
// is listed above with the reason. A new field fails until one of the two holds.
//
// FEATURES: R90
func TestNoFieldIsForgotten(t *testing.T) {
	fields := fieldsOf(populated())
	for _, c := range []struct {
		what    string
		do      func(*Terminal) *Terminal
		well    func(kept, lost, other bool) bool
		reasons map[string]string
	}{
		{
			"come back from a snapshot",
			func(t *Terminal) *Terminal {
				again := New(Options{Cols: 12, Rows: 3})
				if again.Restore(t.AppendSnapshot(nil)) != nil {
					return nil
				}
				return again
			},
			func(kept, _, _ bool) bool { return kept },
			notInSnapshots,
		},
		{
			"be reset by RIS",
			func(t *Terminal) *Terminal { feed(t, "\x1bc"); return t },
			func(kept, lost, other bool) bool { return lost && !kept && !other },
			notReset,
		},
	} {
		well := map[string]bool{} // by name: all of that name are
		used := map[string]bool{}
		for _, f := range fields {
			if entry := entryOf(f.name, c.reasons); strings.HasSuffix(entry, "*") {
				used[entry] = true
				continue
			}
			before, known := well[f.name]
			well[f.name] = c.well(fate(&f, c.do)) && (before || !known)
		}
		for name, well := range well {
			_, listed := c.reasons[name]
			used[name] = true
			switch {
			case !well && !listed:
				t.Errorf("%s seems not to %s: implement it, or give the reason above", name, c.what)
			case well && listed:
				t.Errorf("%s is listed as not to %s, but it does", name, c.what)
			}
		}
		for entry := range c.reasons {
			if !used[entry] {
				t.Errorf("%s is listed as not to %s, but there is no such field", entry, c.what)
			}
		}
	}
}

// TestPackGivesSymbolsUp checks that Pack drops the cache of symbols.
func TestPackGivesSymbolsUp(t *testing.T) {
	term := New(Options{Cols: 40, Rows: 3})
	known := func() (is bool) {
		for _, f := range fieldsOf(term) {
			is = is || strings.HasPrefix(f.name, "tables.symbols.known.")
		}
		return is
	}
	feed(term, strings.Repeat("👩‍💻 ok ", 20))
	if !known() {
		t.Fatal("no symbols were met")
	}
	if term.Pack(); known() {
		t.Error("symbols are kept")
	}
}

// entryOf is the entry with a * that a field falls under.
func entryOf(name string, reasons map[string]string) string {
	for i := len(name); i > 0; i = strings.LastIndexByte(name[:i], '.') {
		if entry := name[:i] + ".*"; reasons[entry] != "" {
			return entry
		}
	}
	return ""
}
