package journal

// walker walks the records of a segment, those in blocks one by one.
type walker struct {
	scanner
	block *block // the one walked, nil: none
	index int    // of its next record
	dims  dims   // before it, as far as it says
	skip  int    // records of the next block to leave out
	from  uint64 // blocks that end before it are left out
}

// place is where a record lies.
type place struct {
	id    uint32 // of the segment: another version of it has its records elsewhere
	pos   int64  // 0: nowhere
	index int    // in the block at pos
}

// here is the place of the next record.
func (w *walker) here() place {
	if w.block != nil && w.index < len(w.block.records) {
		return place{w.header.id, w.block.records[w.index].pos, w.index}
	}
	return place{w.header.id, w.next, 0}
}

// seek moves to a place.
func (w *walker) seek(p place) {
	w.leave()
	w.next, w.skip = p.pos, p.index
}

// leave gives the block walked up.
func (w *walker) leave() {
	if w.block != nil {
		w.block.free()
		w.block = nil
	}
}

func (w *walker) free() {
	w.leave()
	w.scanner.free()
}

// step is the next record and the number of bytes of the file passed over to find
// it; io.EOF, with the same count, at the end. Its payload is valid until the next call.
func (w *walker) step() (r raw, skipped int64, err error) {
	for {
		if w.block != nil {
			if w.index < len(w.block.records) {
				w.index++
				return w.block.records[w.index-1], skipped, nil
			}
			w.leave()
		}
		f, n, err := w.scanner.record(w.limit)
		skipped += n
		if err != nil {
			return raw{}, skipped, err
		}
		skip := w.skip
		w.skip = 0
		if f.kind != kindBlock {
			return f, skipped, nil
		}
		if f.offset+f.span() < w.from {
			continue
		}
		if w.block, err = unpack(&f); err != nil {
			skipped += f.size()
			continue
		}
		w.index = skip
		m, _ := decodeBlockMeta(f.payload)
		w.dims = m.dims
	}
}
