package vterm

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// everything leaves something in every part of a terminal.
const everything = "\x1b]2;title\x07\x1b]4;1;#102030\x07\x1b[#P\x1b[22t" +
	"one\r\ntwo \u4f60\u597d\r\n\x1b[1;4:3;31;48;2;1;2;3mthree\x1b]8;id=a;http://x\x07link\x1b]8;;\x07\r\n" +
	"e\u0301\U0001F469\u200d\U0001F4BB\x1b[?2004h\x1b[?1000;1006h\x1b[>5u\x1b[>4;2m\x1b7\x1b[2;3r" +
	"\x1b_Ga=T,f=24,s=1,v=1,i=7,q=2;AAAA\x1b\\\x1b_Ga=t,m=1,i=8;AAAA\x1b\\\x1b[?1049h\x1b[3g\x1b[5GX\x1bH\x1b(0q\x1b[1#{"

// TestSnapshotGolden pins the format: a change of it needs another version.
func TestSnapshotGolden(t *testing.T) {
	file := filepath.Join("testdata", "snapshot_v2.hex")
	term := newTest(t, 12, 3, "\x1b[38;2;1;2;3mcolour\r\n\x1b[m", everything, "\x1b[38;5;")
	got := hex.Dump(term.AppendSnapshot(nil))
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the snapshot differs from %s; raise snapshotVersion if that is meant", file)
	}
}

// TestSnapshotOfTheFirstVersion reads a snapshot from before records with colours alone.
func TestSnapshotOfTheFirstVersion(t *testing.T) {
	dump, err := os.ReadFile(filepath.Join("testdata", "snapshot_v1.hex"))
	if err != nil {
		t.Fatal(err)
	}
	var old []byte
	for _, row := range strings.Split(strings.TrimSpace(string(dump)), "\n") {
		b, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(row[10:58]), " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		old = append(old, b...)
	}
	restored := New(Options{})
	if err := restored.Restore(old); err != nil {
		t.Fatal(err)
	}
	if got, want := state(restored), state(newTest(t, 12, 3, everything, "\x1b[38;5;")); got != want {
		got, want = firstDifference(got, want)
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSnapshot restores snapshots at every offset of a long output and continues with the same result.
//
// FEATURES: R90
func TestSnapshot(t *testing.T) {
	data := []byte(everything + "\x1b]2;half \u4f60 title\x07\x1bP$qm\x1b\\\x1b[31mred\xe4\xbd\xa0\x1b[?1049lback\x1b[2J\x1b8end")
	for cut := range data {
		term := New(Options{Cols: 12, Rows: 3})
		_, _ = term.Write(data[:cut])
		_ = term.Replies(nil)
		again := New(Options{Cols: 5, Rows: 5})
		if err := again.Restore(term.AppendSnapshot(nil)); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		_, _ = term.Write(data[cut:])
		_, _ = again.Write(data[cut:])
		if x, y := state(term), state(again); x != y {
			x, y = firstDifference(x, y)
			t.Fatalf("cut at %d: %q, want %q", cut, y, x)
		}
		if x, y := replies(term), replies(again); x != y {
			t.Fatalf("cut at %d: replies %q, want %q", cut, y, x)
		}
		if !bytes.Equal(term.AppendSnapshot(nil)[:4], again.AppendSnapshot(nil)[:4]) {
			t.Fatal("no snapshot after a restore")
		}
	}
}

func TestRestoreRefuses(t *testing.T) {
	good := newTest(t, 10, 4, "text").AppendSnapshot(nil)
	damaged := bytes.Clone(good)
	damaged[len(damaged)/2] ^= 1
	later := bytes.Clone(good)
	later[4]++
	for name, b := range map[string][]byte{"nothing": nil, "noise": []byte("noise noise noise"),
		"cut": good[:len(good)-5], "damaged": damaged, "another version": resum(later), "more": resum(append(bytes.Clone(good), 0, 0))} {
		term := newTest(t, 10, 4, "old")
		if term.Restore(b) == nil {
			t.Errorf("%s is restored", name)
		}
		if text(term) != "" || broken(term) != "" {
			t.Errorf("%s leaves the terminal other than new", name)
		}
	}
}
