// Which rows a group of the estimates of least distances has: tiles of `params.side` rows have 16 groups, each of `params.per_group`.

fn row_of_group(number: u32, at: u32) -> u32 {
    let place = number % 16u;
    let four = place / 8u * (2u * params.per_group) + at / 4u * 8u + place % 8u;
    return number / 16u * params.side + 4u * four + at % 4u;
}
