// A tile of TILE rows of x by TILE rows of y: each of THREADS threads keeps the sums of 8 by 8 pairs in registers.
// Rows 4 r .. 4 r + 3 and TILE / 2 + 4 r .. of x, columns 4 c .. and TILE / 2 + 4 c .. likewise: neighbours read neighbouring vectors.
// Slabs of DEPTH columns pass through workgroup memory; the next is on its way while one is added up. Each pair is summed in the order
// of the columns, so that a distance is the same wherever its rows lie. A kernel tells what a value is by `x_at` and `y_at`, and what
// a slab adds by `add_slab`.

const TILE: u32 = 128u;
const DEPTH: u32 = 8u;
const THREADS: u32 = 256u;
const SIDE: u32 = 16u;
const HALF: u32 = TILE / 2u;
// One vector more than needed, so that neighbours write to different banks.
const SLAB_ROW: u32 = TILE / 4u + 1u;

var<workgroup> slabs: array<vec4<f32>, 2u * DEPTH * SLAB_ROW>;

struct Sums {
    a0: vec4<f32>,
    b0: vec4<f32>,
    a1: vec4<f32>,
    b1: vec4<f32>,
    a2: vec4<f32>,
    b2: vec4<f32>,
    a3: vec4<f32>,
    b3: vec4<f32>,
    a4: vec4<f32>,
    b4: vec4<f32>,
    a5: vec4<f32>,
    b5: vec4<f32>,
    a6: vec4<f32>,
    b6: vec4<f32>,
    a7: vec4<f32>,
    b7: vec4<f32>,
}

// The eight sums of one row of a thread.
struct Row {
    a: vec4<f32>,
    b: vec4<f32>,
}

fn row_of(sums: ptr<function, Sums>, i: u32) -> Row {
    switch i {
        case 0u: { return Row((*sums).a0, (*sums).b0); }
        case 1u: { return Row((*sums).a1, (*sums).b1); }
        case 2u: { return Row((*sums).a2, (*sums).b2); }
        case 3u: { return Row((*sums).a3, (*sums).b3); }
        case 4u: { return Row((*sums).a4, (*sums).b4); }
        case 5u: { return Row((*sums).a5, (*sums).b5); }
        case 6u: { return Row((*sums).a6, (*sums).b6); }
        default: { return Row((*sums).a7, (*sums).b7); }
    }
}

// Which rows a thread has: by r and c, a subgroup of 32 being 4 by 8.
fn place_of(thread: u32) -> vec2<u32> {
    let wave = thread / 32u;
    let lane = thread % 32u;
    return vec2(wave / 2u * 4u + lane / 8u, wave % 2u * 8u + lane % 8u);
}

// The row of the tile, or its column, that is the i-th of a thread.
fn nth(place: u32, i: u32) -> u32 {
    return i / 4u * HALF + 4u * place + i % 4u;
}

fn x_four(row: u32, k: u32) -> vec4<f32> {
    return vec4(x_at(row, k), x_at(row, k + 1u), x_at(row, k + 2u), x_at(row, k + 3u));
}

fn y_four(row: u32, k: u32) -> vec4<f32> {
    return vec4(y_at(row, k), y_at(row, k + 1u), y_at(row, k + 2u), y_at(row, k + 3u));
}

// `depth` columns of the rows from `first_x` and `first_y` on. Every thread must come here; the slabs may be used for other things
// afterwards, once all threads have come out.
fn tile_sums(first_x: u32, first_y: u32, depth: u32, thread: u32) -> Sums {
    var sums = Sums();
    let place = place_of(thread);
    let row = thread / 2u;
    let along = thread % 2u * 4u;
    var x_next = x_four(first_x + row, along);
    var y_next = y_four(first_y + row, along);
    let to = along * SLAB_ROW + row / 4u;
    let lane = row % 4u;
    for (var k = 0u; k < depth; k += DEPTH) {
        workgroupBarrier();
        for (var i = 0u; i < 4u; i += 1u) {
            slabs[to + i * SLAB_ROW][lane] = x_next[i];
            slabs[to + (DEPTH + i) * SLAB_ROW][lane] = y_next[i];
        }
        workgroupBarrier();
        if k + DEPTH < depth {
            x_next = x_four(first_x + row, k + DEPTH + along);
            y_next = y_four(first_y + row, k + DEPTH + along);
        }
        add_slab(&sums, place);
    }
    workgroupBarrier();
    return sums;
}
