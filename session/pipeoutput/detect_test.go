package pipeoutput

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
)

// TestAuto_DetectsEncoding decodes texts in several encodings, in one piece and byte by byte.
//
// FEATURES: R4
func TestAuto_DetectsEncoding(t *testing.T) {
	for _, c := range []struct{ name, locale, text string }{
		{"utf-8", "", "plain\n"},
		{"utf-8", "", "naïve – 日本 🙂\n"},
		{"utf-8", "ja_JP.SJIS", "日本\n"},
		{"shift_jis", "", "エラー: ファイルが見つかりません\n"},
		{"euc-jp", "", "エラー: ファイルが見つかりません\n"},
		{"shift_jis", "ja_JP.SJIS", "日本\n"},
		{"gbk", "zh_CN.GBK@x", "错误\n"},
		{"big5", "", "錯誤: 找不到檔案，請檢查路徑\n"},
		{"euc-kr", "", "오류: 파일을 찾을 수 없습니다\n"},
		{"windows-1251", "", "Ошибка: файл не найден\n"},
		{"koi8-r", "", "Ошибка: файл не найден\n"},
		{"windows-1252", "", "café\n"},
		{"windows-1252", "C.UTF-8", "Datei „Übung“ nicht gefunden – größer\n"},
		{"utf-16le", "", "\ufeffone\ntwo 日本\n"},
		{"utf-16be", "", "\ufeffone\n"},
	} {
		e, err := htmlindex.Get(c.name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := e.NewEncoder().Bytes([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		auto, err := ParseEncoding("auto", c.locale)
		if err != nil {
			t.Fatal(err)
		}
		o := NewOutput(auto, 1000)
		o.Write("stdout", b)
		want := c.name
		if want == "utf-8" {
			want = ""
		}
		if r := o.Finish(); r.Stdout != strings.TrimPrefix(c.text, "\ufeff") || r.Encoding != want || r.Binary {
			t.Errorf("%s: got %q, %q, want %q", c.name, r.Stdout, r.Encoding, c.text)
		}
		if c.locale == "" && c.name != "utf-8" && !strings.HasPrefix(c.name, "utf-16") {
			continue // of single bytes there is too little to see
		}
		o = NewOutput(auto, 1000)
		for i := range b {
			o.Write("stdout", b[i:i+1])
		}
		if r := o.Finish(); r.Stdout != strings.TrimPrefix(c.text, "\ufeff") {
			t.Errorf("%s, byte by byte: got %q, want %q", c.name, r.Stdout, c.text)
		}
	}
}

// TestAuto_LeavesBinaryData checks that binary data is not decoded, and that an incomplete character at the end is not lost.
//
// FEATURES: R4
func TestAuto_LeavesBinaryData(t *testing.T) {
	auto, err := ParseEncoding("auto", "")
	if err != nil {
		t.Fatal(err)
	}
	o := NewOutput(auto, 1<<20)
	o.Write("stdout", append([]byte("head\n"), bytes.Repeat([]byte{0, 0xff, 1, 0x80}, 5000)...))
	if r := o.Finish(); !r.Binary || r.Encoding != "" || !strings.HasPrefix(r.Stdout, "head\n") {
		t.Errorf("%+v", r)
	}
	for text, want := range map[string]string{"\xc3": "Ã", "\xef\xbb": "ï»", "a\xff": "aÿ"} {
		o := NewOutput(auto, 100)
		o.Write("merged", []byte(text))
		if r := o.Finish(); r.Merged != want {
			t.Errorf("%q: %q, want %q", text, r.Merged, want)
		}
	}
}

// FuzzDetect checks that UTF-8 passes unchanged in any pieces, and that other bytes are never lost.
func FuzzDetect(f *testing.F) {
	f.Add([]byte("plain"), 2)
	f.Add([]byte("\xff\xfeo\x00"), 1)
	f.Add([]byte("caf\xe9 \xe9"), 3)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		var out bytes.Buffer
		auto, err := ParseEncoding("auto", "")
		if err != nil {
			t.Fatal(err)
		}
		d := auto.Decoder(&out)
		for part := range slices.Chunk(b, max(1, n)) {
			if k, err := d.Write(part); err != nil || k != len(part) {
				t.Fatalf("%d of %d, %v", k, len(part), err)
			}
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		rest, name, _ := cutByteOrderMark(b)
		if utf8.Valid(b) && !bytes.Equal(out.Bytes(), rest) {
			t.Errorf("%q became %q", b, out.Bytes())
		}
		if name == "" && out.Len() < len(b)/4 {
			t.Errorf("%q became %q", b, out.Bytes())
		}
	})
}
