package rulebook

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestDeletedFileIsNotTheLastGoodOne checks that a deleted file no longer counts at the first check after a tenth of a
// second, and that an invalid file in its place then restores none of it.
//
// FEATURES: R61
func TestDeletedFileIsNotTheLastGoodOne(t *testing.T) {
	l := newLibrary(t, `allow = ["rm"]
preset = "build"`)
	l.want(agent, "rm x", "allow")
	l.remove(l.o.File, missingTime)
	l.want(agent, "rm -rf x", "allow") // hard, which needs approval less often
	if st := l.Status(); st.Using != "none" {
		t.Errorf("%+v", st)
	}
	l.write("policy.toml", "deny = [oops")
	l.want(agent, "rm x", "ask")
	if st := l.Status(); st.Using != "broken" || st.Rules != 0 {
		t.Errorf("%+v", st)
	}
}

// TestDeletedAndMadeAgainUnseenIsChanged checks that a file that was deleted between two checks, with an invalid one in
// its place, counts as changed: its denials stay.
func TestDeletedAndMadeAgainUnseenIsChanged(t *testing.T) {
	l := newLibrary(t, `deny = ["curl"]`)
	l.want(agent, "curl x", "deny")
	if err := os.Remove(l.o.File); err != nil {
		t.Fatal(err)
	}
	l.write("policy.toml", "deny = [oops")
	l.want(agent, "curl x", "deny")
	if st := l.Status(); st.Using != "kept" || st.Rules != 1 || len(st.Problems) == 0 {
		t.Errorf("%+v", st)
	}
	l.remove(l.o.File, missingTime)
	l.want(agent, "curl x", "allow")
}

// TestDeletedFile_SeenByOtherProcess checks that the same holds if only another process has checked in between, as
// `policy check` does.
func TestDeletedFile_SeenByOtherProcess(t *testing.T) {
	l := newLibrary(t, `allow = ["rm"]`)
	s := Subject{Agent: "x", Policy: "build"}
	l.want(s, "rm x", "allow")
	daemon := l.Book
	if err := os.Remove(l.o.File); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-time.Minute)
	if err := os.Chtimes(l.dir, long, long); err != nil {
		t.Fatal(err)
	}
	o := l.o
	o.MayDeleteCopy = false
	l.Book = Open(o)
	l.want(s, "rm x", "ask")
	l.write("policy.toml", "deny = [oops")
	for _, l.Book = range []*Book{l.Book, daemon} {
		l.want(s, "rm x", "ask")
		if st := l.Status(); st.Using != "broken" {
			t.Errorf("%+v", st)
		}
	}
}

// TestDeletedFileOfAProject checks the same for a project's file, which is not found once it is deleted.
func TestDeletedFileOfAProject(t *testing.T) {
	l := newLibrary(t, "")
	dir := l.project("p", `deny = ["docker"]`)
	file := filepath.Join(dir, projectPolicy)
	for _, s := range []Subject{{Agent: "x", Cwd: dir}, {Agent: "x", Cwd: filepath.Join(dir, "sub"), IsCwdResolved: true}} {
		l.write(file, `deny = ["docker"]`)
		l.want(s, "docker run x", "deny")
		l.remove(file, missingTime/2)
		l.want(s, "docker run x", "deny") // an editor may be writing it
		l.at = l.at.Add(missingTime)
		l.want(s, "docker run x", "allow")
		l.write(file, `deny = [oops`)
		l.want(s, "docker run x", "ask")
		if _, src := l.For(s); src.Files[1].Using != "broken" {
			t.Errorf("%+v", src.Files)
		}
		l.remove(file, missingTime)
		l.want(s, "docker run x", "allow")
	}
}

// TestLastGoodProjectFile_Shared checks that another process, such as `policy check`, judges by the same last valid
// version of a project's file as the daemon does.
//
// FEATURES: R64
func TestLastGoodProjectFile_Shared(t *testing.T) {
	l := newLibrary(t, "")
	dir := l.project("p", `deny = ["docker"]`)
	s := Subject{Agent: "x", Cwd: dir}
	l.want(s, "docker run x", "deny")
	l.write(filepath.Join(dir, projectPolicy), "deny = [oops")
	l.want(s, "docker run x", "deny")
	if all := l.ProjectProblems(); len(all) != 1 || all[0].Using != "kept" || len(all[0].Problems) != 1 {
		t.Errorf("%+v", all)
	}
	for range 2 { // two that start after it
		l.open(Options{})
		l.want(s, "docker run x", "deny")
		if _, src := l.For(s); src.Files[1].Using != "kept" || src.Files[1].Rules != 1 || len(src.Warnings()) != 1 {
			t.Errorf("%+v", src.Files)
		}
	}
}

func TestCopiesOfProjectsAreBounded(t *testing.T) {
	dir := t.TempDir()
	for n := range maxCopies + 3 {
		if err := writeCopy(filepath.Join(dir, HashOf([]byte{byte(n), byte(n >> 8)})), []byte("x"), true); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != maxCopies {
		t.Errorf("%d, %v", len(all), err)
	}
}

// TestLastGoodOneIsOfAnyProcess checks that the last valid file that a short-lived process has judged by also counts
// for later processes, if no other process has checked.
//
// FEATURES: R61
func TestLastGoodOneIsOfAnyProcess(t *testing.T) {
	l := newLibrary(t, "")
	dir := l.project("p", "")
	check := func(line, want string) {
		t.Helper()
		o := l.o
		o.MayDeleteCopy = false
		l.Book = Open(o)
		l.want(Subject{Cwd: dir}, line, want)
	}
	for _, file := range []string{l.o.File, filepath.Join(dir, projectPolicy)} {
		l.write(file, `deny = ["docker"]`)
		check("docker rm x", "deny")
		l.write(file, `deny = ["dock`)
		check("docker rm x", "deny")
		l.remove(file, missingTime)
	}
}
