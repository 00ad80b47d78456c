/** Where backups rest: a volume of their own, or a bucket. Exactly one. */
export type BackupTarget = { readonly volume: VolumeTarget; readonly s3?: undefined } | { readonly s3: S3Target; readonly volume?: undefined };

/** A claim that is mounted into the Jobs' pods. */
export interface VolumeTarget {
  readonly claimName: string;
  /** As `DataVolume.openFolder`. @default false */
  readonly openFolder?: boolean;
}

/** A bucket of S3 or of a server that speaks its protocol. */
export interface S3Target {
  readonly bucket: string;
  /** Folder in the bucket; backups lie in `PREFIX/NAMESPACE/DATABASE/BACKUP/`. @default the bucket's root */
  readonly prefix?: string;
  /** URL of the server. @default Amazon's own, by region */
  readonly endpoint?: string;
  /** @default us-east-1 */
  readonly region?: string;
  /** Secret with the keys AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. */
  readonly credentialsSecret: string;
  /** Secret with the key ca.crt, for a server whose certificate no public authority signed. @default public authorities */
  readonly caSecret?: string;
}
