use super::*;

fn table(text: &str) -> Table {
    read("f.csv", text.as_bytes(), &Options::default()).unwrap()
}

fn fault(text: &str) -> DataError {
    read("f.csv", text.as_bytes(), &Options::default()).unwrap_err()
}

fn row_problem(text: &str) -> (Place, RowProblem) {
    match fault(text) {
        DataError::Row { place, problem, .. } => (place, problem),
        other => panic!("{other}"),
    }
}

fn value_problem(text: &str) -> (Place, String, ValueProblem) {
    match fault(text) {
        DataError::Value { place, column, problem, .. } => (place, column, problem),
        other => panic!("{other}"),
    }
}

#[test]
fn headers_are_recognised_and_the_label_is_found() {
    let plain = table("1,2,a\n3,4,b\n");
    assert_eq!((&*plain.features, &*plain.labels), (&[1.0, 2.0, 3.0, 4.0][..], &[-1.0, 1.0][..]));
    assert_eq!(plain.columns, ["x1", "x2"]);
    for text in [
        "u,v,kind\n1,2,a\n3,4,b\n",
        "Label,u,v\na,1,2\nb,3,4\n",
        "0,1,label\n1,2,a\n3,4,b",
        "# written by hand\n# twice\nu,v,kind\r\n1,2,a\r\n3,4,b\r\n\r\n",
        "\u{feff}u,v,kind\n 1 , 2 ,a\n3,4,\"b\"\n\n\n",
    ] {
        let other = table(text);
        assert_eq!((&other.features, &other.labels), (&plain.features, &plain.labels), "{text:?}");
        assert_ne!(other.columns[0], "x1");
    }
    let options = Options { label: Some("2"), header: Header::No, ..Options::default() };
    let second = read("f.csv", b"1,7,2\n3,8,4\n", &options).unwrap();
    assert_eq!((second.features, second.numbers), (vec![1.0, 2.0, 3.0, 4.0], vec![0, 2]));
    let drop = ["id".to_owned()];
    let options =
        Options { label: Some("y"), drop: &drop, delimiter: Some(';'), ..Options::default() };
    let dropped = read("f.csv", b"id;y;u\nA7;0;2\nB8;1;4\n", &options).unwrap();
    assert_eq!((dropped.features, dropped.columns), (vec![2.0, 4.0], vec!["u".to_owned()]));
}

#[test]
fn multiplicities_are_read_by_their_name() {
    let atoms = table("x,label,multiplicity\n-0.5,-1,2\n0.5,1,3e0\n");
    assert_eq!((atoms.columns.len(), atoms.multiplicities), (1, Some(vec![2, 3])));
    for bad in ["0", "1.5", "-1", "1e17"] {
        let (place, column, problem) =
            value_problem(&format!("x,label,multiplicity\n1,-1,2\n1,1,{bad}\n"));
        assert_eq!((place, &*column), (Place::Line(3), "3 (multiplicity)"));
        assert_eq!(problem, ValueProblem::NotACount { text: bad.into() });
    }
}

#[test]
fn empty_and_ragged_rows_are_named_by_their_line() {
    for text in
        ["1,2,a\n\n3,4,b\n", "1,2,a\r\n\r\n3,4,b\r\n", "1,2,a\n  \n3,4,b", "1,2,a\n,,\n3,4,b"]
    {
        assert_eq!(row_problem(text), (Place::Line(2), RowProblem::Empty), "{text:?}");
    }
    assert_eq!(row_problem("\n1,2,a\n"), (Place::Line(1), RowProblem::Empty));
    let ragged = RowProblem::Ragged { found: 2, expected: 3 };
    assert_eq!(row_problem("u,v,w\r\n1,2,a\r\n3,4\r\n"), (Place::Line(3), ragged.clone()));
    assert_eq!(row_problem("# x\nu,v,\"w\n w\"\n1,2,a\n3,4\n"), (Place::Line(5), ragged));
    assert_eq!(row_problem("1,a,2,x\n"), (Place::Line(1), RowProblem::UnclearHeader));
    let (_, problem) = row_problem("1;2;a\n3;4;b\n");
    assert_eq!(problem, RowProblem::NoFeatures { found: 1, delimiter: ',' });
}

#[test]
fn missing_and_unreadable_values_are_named_by_line_and_column() {
    for mark in ["", "NA", "nan", "?", "null"] {
        let (place, column, problem) = value_problem(&format!("u,v,k\n1,2,a\n3,{mark},b\n"));
        assert_eq!((place, &*column), (Place::Line(3), "2 (v)"));
        assert_eq!(problem, ValueProblem::Missing { text: mark.into() });
    }
    // A headerless file whose first row has a missing value does not lose that row.
    assert_eq!(value_problem("NA,NA,a\n1,2,b\n").0, Place::Line(1));
    assert!(matches!(value_problem("1,2,\n3,4,b\n").2, ValueProblem::Missing { .. }));
    for (bad, expected) in [
        ("inf", ValueProblem::NotFinite { text: "inf".into() }),
        ("1e999", ValueProblem::NotFinite { text: "1e999".into() }),
        ("1,5", ValueProblem::NotANumber { text: "1,5".into() }),
    ] {
        let (place, column, problem) = value_problem(&format!("1,2,a\n3,\"{bad}\",b\n"));
        assert_eq!((place, &*column, problem), (Place::Line(2), "2", expected));
    }
}

#[test]
fn a_million_columns_and_bytes_that_are_no_text_are_refused() {
    let wide = "1,".repeat(999_999) + "a\n";
    let expected = RowProblem::TooManyColumns { found: 1_000_000, limit: MOST_COLUMNS };
    assert_eq!(row_problem(&wide), (Place::Line(1), expected));
    let wide = format!("1,a\n{wide}");
    assert!(matches!(row_problem(&wide), (Place::Line(2), RowProblem::Ragged { .. })));
    let error = read("f.csv", b"1,a\n2,\xff\n", &Options::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "f.csv, line 2: byte 3 of the line is not UTF-8; save the file as UTF-8"
    );
}

#[test]
fn a_file_without_two_classes_is_refused() {
    assert!(fault("1,a\n2,a\n").to_string().contains("the one class \"a\""));
    for text in ["", "u,v\n", "# only a comment", "\n\n"] {
        assert!(
            matches!(fault(text), DataError::File { problem: FileProblem::NoRows, .. }),
            "{text:?}"
        );
    }
    let wanted = "b,c".parse().unwrap();
    let options = Options { classes: Some(&wanted), ..Options::default() };
    let chosen = read("f.csv", b"1,a\n2,b\n3,c\n4,b\n", &options).unwrap();
    assert_eq!((chosen.features, chosen.labels), (vec![2.0, 3.0, 4.0], vec![-1.0, 1.0, -1.0]));
    assert_eq!(chosen.places, [Place::Line(2), Place::Line(3), Place::Line(4)]);
}

#[test]
fn unknown_and_ambiguous_columns_are_refused() {
    let of = |label: &str, text: &str| {
        let options = Options { label: Some(label), header: Header::Yes, ..Options::default() };
        read("f.csv", text.as_bytes(), &options).unwrap_err().to_string()
    };
    assert!(of("w", "u,v\n1,a\n").contains("there is no column \"w\"; the columns are u, v"));
    assert!(of("0", "u,v\n1,a\n").contains("numbers 1 to 2"));
    assert!(of("u", "u,u\n1,a\n").contains("more than once"));
    for bad in ['a', '"', '.', 'é'] {
        let options = Options { delimiter: Some(bad), ..Options::default() };
        assert!(read("f.csv", b"1,a\n2,b\n", &options).is_err(), "{bad}");
    }
}

#[test]
fn broken_files_never_panic() {
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    let whole = b"# c\r\nid,u,label,multiplicity\r\na,0.5,\"x\",2\r\nb,-1e-3,y,3\r\n".to_vec();
    let alphabet = b"0,9.-e\"\n\r #;\xffnalbeu";
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let drop = ["1".to_owned()];
    let mut read_well = 0;
    for _ in 0..4000 {
        let mut bytes = whole.clone();
        for _ in 0..rng.random_range(0..4) {
            let (place, byte) =
                (rng.random_range(0..bytes.len()), rng.random_range(0..alphabet.len()));
            match rng.random_range(0..3) {
                0 => bytes[place] = alphabet[byte],
                1 => bytes.insert(place, alphabet[byte]),
                _ => bytes.truncate(place.max(1)),
            }
        }
        let options = Options { drop: &drop, ..Options::default() };
        if let Ok(table) = read("f.csv", &bytes, &options) {
            read_well += 1;
            assert_eq!(table.features.len(), table.labels.len() * table.columns.len());
            assert!(table.features.iter().all(|value| value.is_finite()));
        }
    }
    assert!(read_well > 1000, "{read_well}");
}

#[test]
fn classes_may_be_called_none() {
    let table = table("0,none\n1,some\n");
    assert_eq!(table.classes, ["none", "some"]);
    let (_, _, problem) = value_problem("0,a\nnone,b\n");
    assert_eq!(problem, ValueProblem::Missing { text: "none".into() });
}
